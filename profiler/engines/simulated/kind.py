"""The simulated engine, as the commands know it before it is opened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

from profiler.engines.catalogue import EngineKind, KnownPlatform, Note, Opening, Room
from profiler.engines.spark.layout.chains import inner_topics
from profiler.experiment.engine import Engine, Platform
from profiler.job.topology import Topology
from profiler.settings.choices import EngineName
from profiler.settings.declarations import Settings
from profiler.settings.option import Ability


@contextmanager
def _prepared(topologies: Sequence[Topology], settings: Settings, note: Note) -> Iterator[Opening]:  # noqa: ARG001
    yield closing(_engine(settings))


def _engine(settings: Settings) -> Engine:
    from profiler.engines.simulated.engine import SimulatedEngine
    from profiler.engines.simulated.noise import Preset
    from profiler.engines.simulated.platform import SimulatedPlatform

    cluster = SimulatedPlatform(nodes=settings.nodes, cores_per_node=settings.cores, slots=settings.slots)
    return SimulatedEngine(cluster, Preset(settings.noise), seed=settings.seed, window_s=settings.window_s)


def _foreseen(topology: Topology, settings: Settings, known: KnownPlatform) -> tuple[Platform, int]:  # noqa: ARG001
    with closing(_engine(settings)) as engine:
        return engine.platform, engine.slots_for(topology)


def _room(settings: Settings) -> Room:
    with closing(_engine(settings)) as engine:
        return Room("the simulated cluster", engine.platform.slots, by_default=True)


KIND = EngineKind(
    name=EngineName.SIMULATED,
    abilities=frozenset({Ability.MODEL}),
    lacking="the simulated engine starts no Spark and sends no messages",
    prepared=_prepared,
    foreseen=_foreseen,
    room=_room,
    fitting_windows=lambda _: None,
    # What it finds is meant for Spark, too.
    inner_topics=inner_topics,
)
