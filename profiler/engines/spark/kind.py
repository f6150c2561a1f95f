"""The engine of Spark's real-time queries, as the commands know it before it is opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from profiler.engines.catalogue import EngineKind, FittingWindows, KnownPlatform, Note, Opening, Room
from profiler.engines.spark.layout.chains import cut, extra_slots, inner_topics, layout
from profiler.errors import UsageError
from profiler.experiment.engine import Engine, Platform
from profiler.job.slots import smallest_configuration
from profiler.job.topology import Source, Topology
from profiler.settings.choices import EngineName
from profiler.settings.declarations import Settings
from profiler.settings.option import Ability
from profiler.settings.spark_conf import spark_settings

if TYPE_CHECKING:
    from profiler.services.run_folder import RunFolder

SEVERAL_QUERIES = FittingWindows(window_s=6.0, windows=6)
"""Windows of a job that runs as several queries: about the same time under load as the default number of short ones.

A window is a batch, and each query pauses between its batches, at its own time: behind one that pauses the next ones
have nothing to do, and rows that wait there come out in a burst.
"""


@contextmanager
def _prepared(topologies: Sequence[Topology], settings: Settings, note: Note) -> Iterator[Opening]:
    from profiler.report.words import messages_in_words
    from profiler.services.jars import JarSet, jar_paths
    from profiler.services.java import find_java
    from profiler.services.run_folder import cache_directory, create_run_folder
    from profiler.settings.user_payloads import payload_samples
    from profiler.traffic.payload_files import payload_file

    _require_batches(settings)
    for each in topologies:
        _require_slots(each, settings)
    spark_settings(settings.conf)
    find_java()
    cache = cache_directory()
    with create_run_folder(cache) as run:
        note("making the data")
        for each in topologies:
            for source, sample in payload_samples(each, settings).items():
                note(messages_in_words(source, getattr(each[source], "payloads", ""), sample))
        sources = [source for each in topologies for source in each.sources]
        own = {(source.name, source.payloads): payload_file(source, cache) for source in sources}
        named = {source.name: own[source.name, source.payloads] for source in reversed(sources)}

        def files(source: Source) -> Path:
            return own.get((source.name, source.payloads), named[source.name])

        jars = jar_paths(JarSet.CONNECTOR, cache, report=note)
        yield _opened(run, cache, files, jars, settings, note)


@contextmanager
def _opened(
    run: RunFolder,
    cache: Path,
    files: Callable[[Source], Path],
    jars: Sequence[Path],
    settings: Settings,
    note: Note,
) -> Iterator[Engine]:
    from profiler.engines.spark.engine import SparkEngine
    from profiler.services.kafka import open_kafka

    # The folder is closed with the engine: what a full disk kept from the history then has space.
    with run, open_kafka(settings.kafka, run, cache, report=note) as kafka:
        note("starting Spark")
        engine = SparkEngine(
            run,
            kafka,
            jars,
            files,
            window_s=settings.window_s,
            production_batch_s=settings.production_batch_s,
            master=settings.master,
            settings=spark_settings(settings.conf),
            prefill_keys=settings.prefill or 0,
            cold_s=settings.warm_up_s,
        )
        with closing(engine), engine.explained():
            yield engine


def _require_batches(settings: Settings) -> None:
    """Refuse batches that Spark would refuse, some of them only at the very end."""
    from profiler.engines.spark.jvm.session import SHORTEST_BATCH_S

    for flag, seconds in (("--window", settings.window_s), ("--production-batch", settings.production_batch_s)):
        if seconds < SHORTEST_BATCH_S:
            raise UsageError(
                f"{flag} is {seconds:g} s, and Spark's real-time mode has no batches below {SHORTEST_BATCH_S:g} s.",
                hint=f"Give {flag} {SHORTEST_BATCH_S:g}s or more.",
            )


def _require_slots(topology: Topology, settings: Settings) -> None:
    """Refuse a local master that has too few; a cluster is asked when it is there."""
    room = _room(settings)
    needed = layout(topology, smallest_configuration(topology, settings.slots), apart=True).slots
    if room.slots is not None and needed > room.slots:
        raise UsageError(
            f"Topology '{topology.name}' needs at least {needed} slots, but {room.master} has {room.slots}.",
            hint=f"Give Spark more: --master 'local[{needed}]' or a cluster.",
        )


def _room(settings: Settings) -> Room:
    from profiler.engines.spark.jvm.session import default_master, local_slots

    master = settings.master or default_master()
    return Room(master, local_slots(master), by_default=settings.master is None)


def _foreseen(topology: Topology, settings: Settings, known: KnownPlatform) -> tuple[Platform, int]:
    import platform as system

    import pyspark

    from profiler.engines.spark.jvm.machine_use import machine_name
    from profiler.engines.spark.jvm.session import machine_cores

    room = _room(settings)
    versions = {"spark": pyspark.__version__, "python": system.python_version()}
    if room.slots is not None:
        local = Platform(room.slots, machine_cores(), 1, versions, machine=machine_name(), loop_s=known.loop_s)
        return local, room.slots - extra_slots(topology)
    slots, cores, nodes = (int(known.facts.get(fact, 1)) for fact in ("slots", "cores", "nodes"))
    return Platform(slots, cores, nodes, versions, machine=room.master, loop_s=known.loop_s), slots


def _fitting_windows(topology: Topology) -> FittingWindows | None:
    return None if len(cut(topology)) == 1 else SEVERAL_QUERIES


KIND = EngineKind(
    name=EngineName.SPARK,
    abilities=frozenset(Ability) - {Ability.MODEL},
    lacking="on Spark nothing is simulated",
    prepared=_prepared,
    foreseen=_foreseen,
    room=_room,
    fitting_windows=_fitting_windows,
    inner_topics=inner_topics,
)
