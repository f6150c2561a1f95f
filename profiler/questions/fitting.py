"""Settings that follow from the job where the user made none: the length of windows, and the latency it must keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from profiler.job.topology import Topology
from profiler.questions.windows import with_fitting_windows
from profiler.settings.declarations import Settings


def fitted_to(topologies: Sequence[Topology], settings: Settings) -> Settings:
    """Return the settings as these jobs need them; what the user said stays."""
    return with_fitting_windows(with_own_latency(settings, topologies), topologies)


def with_own_latency(settings: Settings, topologies: Sequence[Topology]) -> Settings:
    """Return the settings with the strictest constraint that a job itself states."""
    stated = [each.latency_ms for each in topologies if each.latency_ms is not None]
    if not stated or settings.origin("latency") != "default":
        return settings
    return replace(settings, latency_ms=min(stated))
