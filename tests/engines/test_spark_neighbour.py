"""A window on Spark knows what other programs took of its machine, and what held its JVM up."""

from __future__ import annotations

from contextlib import closing

import psutil
import pytest
import spark_operators as jobs

from profiler import Operator, Source, Topology
from profiler.experiment.observation import Detail
from profiler.job.configuration import Configuration
from scripts.benches.disturber import Disturber

LINES = Topology.chain("lines", Source("lines"), Operator("keep", jobs.keep))


def burnt_s(process):
    return sum(process.cpu_times()[:2])


@pytest.mark.spark
@pytest.mark.kafka
def test_a_window_shows_what_a_neighbour_burns(spark_engine):
    """What it had while the windows ran is theirs to tell, as another program's; garbage is counted too."""
    configuration = Configuration.of({"lines": 1, "keep": 1})
    with (
        closing(spark_engine.deploy(LINES, configuration, Detail.LIGHT)) as deployment,
        Disturber(part=0.8, off_s=0.0, on_s=600.0) as neighbour,
    ):
        process = psutil.Process(neighbour.process)
        windows = deployment.observe(200.0, 5)
        first = next(windows)
        before_s = burnt_s(process)
        later = list(windows)
        burnt = burnt_s(process) - before_s
    assert burnt > 0.1
    # A window ends when its batch does; it is told a moment later.
    seen_s = sum(each.disturbance.other_cores * each.duration_s for each in later)
    assert seen_s > 0.7 * burnt
    for window in (first, *later):
        assert window.disturbance.cores == spark_engine.platform.cores
        assert 0 <= window.disturbance.stolen_cores <= window.disturbance.cores
        assert 0 <= window.disturbance.gc_s <= window.duration_s + 1
