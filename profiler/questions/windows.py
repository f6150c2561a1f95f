"""How long to look at a job: one that runs as several queries needs longer windows than one query does."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from profiler.engines.catalogue import kind_of
from profiler.experiment.window_plan import WindowPlan
from profiler.job.topology import Topology
from profiler.settings.declarations import DEFAULTS, Settings


def with_fitting_windows(settings: Settings, topologies: Iterable[Topology]) -> Settings:
    """Return the settings with longer windows where a topology needs them and the user did not say how long."""
    if settings.origin("window") != "default":
        return settings
    kind = kind_of(settings.engine)
    fitting = [each for topology in topologies if (each := kind.fitting_windows(topology)) is not None]
    if not fitting:
        return settings
    longest = max(fitting, key=lambda each: each.window_s)
    windows = settings.windows if settings.origin("windows") != "default" else longest.windows
    return replace(settings, window_s=longest.window_s, windows=windows)


def fewer_of(design: WindowPlan, window_s: float) -> WindowPlan:
    """Return a design for longer windows: what is not decided by counting windows takes the same time as before."""
    share = min(1.0, DEFAULTS.window_s / window_s)

    def at_least_two(windows: int) -> int:
        return max(min(2, windows), math.ceil(windows * share))

    return replace(
        design,
        warm_up=at_least_two(design.warm_up),
        probe=at_least_two(design.probe),
        calm=at_least_two(design.calm),
        block=at_least_two(design.block),
    )
