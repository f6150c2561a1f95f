"""How long to look at a job: one that runs as several queries needs longer windows than one query does.

A window is a batch, and each query pauses between its batches, at its own time: behind one that pauses the next ones
have nothing to do, and rows that wait there come out in a burst. In turns on two cores, *diamond* (six queries, two
operators with six tasks each) did 160, 656 and 539 rows/s from deployment to deployment in windows of 3 s, which moved
by 17 to 30 % around that, and 668, 769, 820 and 809 rows/s in windows of 6 s, which moved by 9 to 25 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from profiler.engines.spark.layout.chains import cut
from profiler.experiment.window_plan import WindowPlan
from profiler.job.topology import Topology
from profiler.settings.declarations import EngineName, Settings

LONG_WINDOW_S = 6.0
LONG_WINDOWS = 6
"""About the same time under load as the default number of short ones."""


def with_fitting_windows(settings: Settings, topologies: Iterable[Topology]) -> Settings:
    """Return the settings with longer windows where a topology needs them and the user did not say how long."""
    if settings.engine is not EngineName.SPARK or settings.origin("window") != "default":
        return settings
    if all(len(cut(topology)) == 1 for topology in topologies):
        return settings
    windows = settings.windows if settings.origin("windows") != "default" else LONG_WINDOWS
    return replace(settings, window_s=LONG_WINDOW_S, windows=windows)


def fewer_of(design: WindowPlan, window_s: float) -> WindowPlan:
    """Return a design for longer windows: what is not decided by counting windows takes the same time as before."""
    share = min(1.0, Settings().window_s / window_s)

    def at_least_two(windows: int) -> int:
        return max(min(2, windows), math.ceil(windows * share))

    return replace(
        design,
        warm_up=at_least_two(design.warm_up),
        probe=at_least_two(design.probe),
        calm=at_least_two(design.calm),
        block=at_least_two(design.block),
    )
