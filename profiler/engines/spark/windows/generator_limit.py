"""Whether a window was short of rows for its generator, or because others had taken the generator's cores; pure."""

from __future__ import annotations

from profiler.engines.spark.jvm.machine_use import Use
from profiler.traffic.generator.achieved import Achieved

FULL = 0.9
"""Share of the cores in use from which on a generator and a broker that are late wait for them. Where it is the job
that uses them, what bounds it is CPU, of which they take their part; a neighbour's part the window tells by itself."""


def is_limiting(achieved: Achieved, use: Use, cores: int) -> bool:
    """Tell whether the generator or its broker could not send faster, on a machine with so many cores.

    They have cores to themselves where the job runs on other machines, and nothing is known of those in use.
    """
    if use.cores is None:
        return achieved.limited
    taken_cores = 0.0 if use.disturbance is None else use.disturbance.taken_cores
    return achieved.limited and use.cores - (use.compiling or 0.0) + taken_cores < FULL * cores
