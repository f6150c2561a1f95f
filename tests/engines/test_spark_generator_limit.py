"""Whether the generator was short of something, or the job had taken all cores."""

from __future__ import annotations

import pytest

from profiler.engines.spark.jvm.machine_use import Use
from profiler.engines.spark.windows.generator_limit import is_limiting
from profiler.experiment.disturbance import Disturbance
from profiler.traffic.generator.achieved import Achieved

LATE = Achieved(offered_per_s=1000, sent_per_s=1000, acked_per_s=800, behind_s=0.0, errors=0)
IN_TIME = Achieved(offered_per_s=1000, sent_per_s=1000, acked_per_s=1000, behind_s=0.0, errors=0)


@pytest.mark.parametrize(
    ("use", "limiting"),
    [
        (Use(cores=0.8, compiling=0.0), True),
        (Use(cores=1.9, compiling=0.0), False),
        (Use(cores=1.9, compiling=0.7), True),
        (Use(cores=0.8, compiling=0.0, disturbance=Disturbance(cores=2, other_cores=1.1)), False),
        (Use(cores=0.8, compiling=0.0, disturbance=Disturbance(cores=2, other_cores=0.1)), True),
        (Use(), True),
    ],
    ids=[
        "cores are left",
        "all are used",
        "by compilers, which end",
        "others use the rest",
        "others use little",
        "the job has machines of its own",
    ],
)
def test_a_broker_that_is_late_limits_only_where_cores_are_left(use: Use, limiting: bool) -> None:
    """Where the job and what runs beside it use all cores, more of them is what would help."""
    assert is_limiting(LATE, use, cores=2) is limiting
    assert not is_limiting(IN_TIME, use, cores=2)
