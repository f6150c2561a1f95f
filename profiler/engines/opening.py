"""Open the engine that the settings ask for, with everything it stands on, and close all of it.

In two steps, so that what is missing is told before anything is started: the first one finds, the second one starts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from profiler.errors import UsageError
from profiler.experiment.engine import Engine
from profiler.experiment.window_plan import WindowPlan
from profiler.job.slots import smallest_configuration
from profiler.job.topology import Source, Topology
from profiler.report.time_left import ARMS, TYPICAL_ROUNDS, TimeLeft
from profiler.settings.declarations import EngineName, Settings
from profiler.settings.spark_conf import spark_settings
from profiler.settings.user_payloads import check_prefill, in_words, payload_samples, with_payloads

if TYPE_CHECKING:
    from profiler.services.run_folder import RunFolder

Note = Callable[[str], None]

_FOR_SPARK = {"payloads": "--payloads", "conf": "--conf", "kafka": "--kafka", "master": "--master"}
_FOR_SIMULATED = {"nodes": "--nodes", "cores": "--cores", "noise": "--noise", "seed": "--seed"}
"""Settings of one engine, by field, with their flags."""


@contextmanager
def opened_engine(topology: Topology, settings: Settings, note: Note) -> Iterator[Engine]:
    """Yield the engine, ready to deploy; `note` hears what takes time."""
    with prepared_engine(topology, settings, note) as opening, opening as engine:
        yield engine


@contextmanager
def prepared_engine(
    topology: Topology, settings: Settings, note: Note, others: Sequence[Topology] = ()
) -> Iterator[AbstractContextManager[Engine]]:
    """Find all that the engine stands on, fetching what is missing; what is yielded starts the engine when entered.

    `others` run on it as well, with data of their own where their sources name other data. A source that is not known
    here, as it is another version's, gets the rows of the one with its name.
    """
    topologies = [with_payloads(each, settings) for each in (topology, *others)]
    if settings.engine is EngineName.SIMULATED:
        for each in topologies:
            check_prefill(each, settings)
        _tell_unused(settings, _FOR_SPARK, note, "the simulated engine starts no Spark and sends no messages")
        yield closing(_simulated(settings))
        return
    from profiler.services.jars import JarSet, jar_paths
    from profiler.services.java import find_java
    from profiler.services.run_folder import cache_directory, create_run_folder
    from profiler.traffic.payload_files import payload_file

    _require_batches(settings)
    _tell_unused(settings, _FOR_SIMULATED, note, "on Spark nothing is simulated")
    for each in topologies:
        check_prefill(each, settings)
        _require_slots(each, settings)
    spark_settings(settings.conf)
    find_java()
    cache = cache_directory()
    with create_run_folder(cache) as run:
        note("making the data")
        for each in topologies:
            for source, sample in payload_samples(each, settings).items():
                note(in_words(source, getattr(each[source], "payloads", ""), sample))
        sources = [source for each in topologies for source in each.sources]
        own = {(source.name, source.payloads): payload_file(source, cache) for source in sources}
        named = {source.name: own[source.name, source.payloads] for source in reversed(sources)}

        def files(source: Source) -> Path:
            return own.get((source.name, source.payloads), named[source.name])

        jars = jar_paths(JarSet.CONNECTOR, cache, report=note)
        yield _spark(run, cache, files, jars, settings, note)


def time_left_of(
    settings: Settings,
    design: WindowPlan,
    *,
    batch_s: float | None = None,
    budget_s: float | None = None,
    whole_s: float | None = None,
    rounds: int = TYPICAL_ROUNDS,
    arms: int = ARMS,
) -> TimeLeft | None:
    """Return who guesses the time left; nobody where windows are simulated, which takes no time."""
    if settings.engine is EngineName.SIMULATED:
        return None
    return TimeLeft(
        design,
        settings.window_s,
        cold_s=settings.warm_up_s,
        batch_s=batch_s,
        budget_s=budget_s,
        whole_s=whole_s,
        rounds=rounds,
        arms=arms,
    )


def _simulated(settings: Settings) -> Engine:
    from profiler.engines.simulated.engine import SimulatedEngine
    from profiler.engines.simulated.noise import Preset
    from profiler.engines.simulated.platform import SimulatedPlatform

    cluster = SimulatedPlatform(nodes=settings.nodes, cores_per_node=settings.cores, slots=settings.slots)
    return SimulatedEngine(cluster, Preset(settings.noise), seed=settings.seed, window_s=settings.window_s)


def _tell_unused(settings: Settings, fields: Mapping[str, str], note: Note, why: str) -> None:
    """Say which settings change nothing on this engine, where somebody made them."""
    unused = [flag for field, flag in fields.items() if getattr(settings, field) != getattr(Settings(), field)]
    if unused:
        note(f"{why}: {', '.join(unused)} changes nothing")


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
    from profiler.engines.spark.jvm.session import default_master, local_slots
    from profiler.engines.spark.layout.chains import layout

    master = settings.master or default_master()
    available = local_slots(master)
    needed = layout(topology, smallest_configuration(topology, settings.slots), apart=True).slots
    if available is not None and needed > available:
        raise UsageError(
            f"Topology '{topology.name}' needs at least {needed} slots, but {master} has {available}.",
            hint=f"Give Spark more: --master 'local[{needed}]' or a cluster.",
        )


@contextmanager
def _spark(
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
