"""Whether it was the generator that a window was short of rows for, or the job that took its cores; pure."""

from __future__ import annotations

from profiler.engines.spark.jvm.machine_use import Use
from profiler.traffic.generator.achieved import Achieved

FULL = 0.9
"""Share of the cores in use from which on a generator and a broker that are late wait for them: what bounds the job is
CPU, of which they take their part."""


def is_limiting(achieved: Achieved, use: Use, cores: int) -> bool:
    """Tell whether the generator or its broker could not send faster, on a machine with so many cores.

    They have cores to themselves where the job runs on other machines, and nothing is known of those in use.
    """
    if use.cores is None:
        return achieved.limited
    return achieved.limited and use.cores - (use.compiling or 0.0) < FULL * cores
