"""Open the engine that the settings ask for, with everything it stands on, and close all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from profiler.engines import Engine
from profiler.settings import EngineName, Settings
from profiler.topology import Topology

Note = Callable[[str], None]


@contextmanager
def opened_engine(topology: Topology, settings: Settings, note: Note) -> Iterator[Engine]:
    """Yield the engine, ready to deploy; `note` hears what takes time."""
    if settings.engine is EngineName.SIMULATED:
        with closing(_simulated(settings)) as engine:
            yield engine
    else:
        with _spark(topology, settings, note) as engine:
            yield engine


def _simulated(settings: Settings) -> Engine:
    from profiler.engines.simulated.engine import SimulatedEngine
    from profiler.engines.simulated.noise import Preset
    from profiler.engines.simulated.platform import SimulatedPlatform

    cluster = SimulatedPlatform(nodes=settings.nodes, cores_per_node=settings.cores, slots=settings.slots)
    return SimulatedEngine(cluster, Preset(settings.noise), seed=settings.seed, window_s=settings.window_s)


@contextmanager
def _spark(topology: Topology, settings: Settings, note: Note) -> Iterator[Engine]:
    from profiler.engines.spark.engine import SparkEngine
    from profiler.payload_files import payload_file
    from profiler.services.jars import JarSet, jar_paths
    from profiler.services.java import find_java
    from profiler.services.kafka import open_kafka
    from profiler.services.run_folder import cache_directory, create_run_folder

    find_java()
    cache = cache_directory()
    note("making the data")
    files = {source.name: payload_file(source, cache) for source in topology.sources}
    jars = jar_paths(JarSet.CONNECTOR, cache, report=note)
    with create_run_folder(cache) as run, open_kafka(settings.kafka, run, cache, report=note) as kafka:
        note("starting Spark")
        engine = SparkEngine(
            run,
            kafka,
            jars,
            lambda source: files[source.name],
            window_s=settings.window_s,
            master=settings.master,
        )
        with closing(engine):
            yield engine
