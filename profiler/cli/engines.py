"""Open the engine that the settings ask for, and close all it started."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from profiler.engines import Engine
from profiler.errors import UsageError
from profiler.settings import EngineName, Settings
from profiler.topology import Topology


@contextmanager
def opened_engine(topology: Topology, settings: Settings, note: Callable[[str], None]) -> Iterator[Engine]:
    """Yield the engine, ready to deploy; `note` hears what takes time."""
    with closing(_engine(settings)) as engine:
        yield engine


def _engine(settings: Settings) -> Engine:
    from profiler.engines.simulated.engine import SimulatedEngine
    from profiler.engines.simulated.noise import Preset
    from profiler.engines.simulated.platform import SimulatedPlatform

    if settings.engine is not EngineName.SIMULATED:
        raise UsageError("The Spark engine is not built yet.", hint="Run with --engine simulated.")
    cluster = SimulatedPlatform(nodes=settings.nodes, cores_per_node=settings.cores, slots=settings.slots)
    return SimulatedEngine(cluster, Preset(settings.noise), seed=settings.seed, window_s=settings.window_s)
