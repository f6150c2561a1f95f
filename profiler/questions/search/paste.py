"""Settings to paste: what an answer means in Kafka's and Spark's own words."""

from __future__ import annotations

from dataclasses import dataclass, field

from profiler.engines.catalogue import kind_of
from profiler.questions.search.result import SearchResult
from profiler.report.documents import OMITTED_IF_NONE
from profiler.report.published import Count, NotTold
from profiler.secrets import masked
from profiler.settings.quantities import without_credentials

_TOPICS = "kafka-topics.sh --bootstrap-server HOST:PORT"


@dataclass(frozen=True, slots=True, kw_only=True)
class PasteSettings:
    """Kafka partitions per source, `repartition(n)` per operator, shuffle partitions, slots, and what else to set."""

    kafka_partitions: dict[str, Count]
    repartition: dict[str, Count]
    """Tasks of the operators without state: `df.repartition(n)` before each."""
    stateful: dict[str, Count] = field(default_factory=dict)
    """Tasks of the stateful operators: `spark.sql.shuffle.partitions` of the query each one runs in."""
    slots: Count
    """The slots for all tasks, and for what the engine needs beside them."""
    spark: dict[str, str] = field(default_factory=dict)
    """Settings of the session without which the answer may not hold."""
    launch: dict[str, str] = field(default_factory=dict)
    """Settings of these that a session takes only when it starts."""
    source: dict[str, str] = field(default_factory=dict)
    """Options of the Kafka sources, likewise."""
    sink: dict[str, str] = field(default_factory=dict)
    """Options of the Kafka sink, likewise."""
    master: str | NotTold = field(default=None, metadata=OMITTED_IF_NONE)
    """Master of the cluster that the answer was measured on; None for a local one, whose slots say it."""
    inner_partitions: dict[str, Count] = field(default_factory=dict)
    """Partitions of the topics between two queries, by the operator that reads them."""
    shuffle_partitions: Count | None
    """Value of `spark.sql.shuffle.partitions`; None where the operators with state ask for different ones."""


def paste_settings(profile: SearchResult, engine: str) -> PasteSettings:
    """Translate an engine's answer into settings; today's job runs as it was written and needs no repartition()."""
    topology, platform, configuration = profile.topology, profile.platform, profile.answer.configuration
    fused = profile.answer.trial.fused
    stateful = {operator.name for operator in topology.operators if operator.stateful}
    inner = kind_of(engine).inner_topics(topology, configuration.tasks)
    spark = {} if fused else dict(platform.job_settings)
    hides_python = any(seen.hides_python for seen in profile.answer.measurement.operators.values())
    if hides_python or any(operator.batches is not None for operator in topology.operators):
        spark |= platform.python_settings
    tasks_with_state = {name: configuration[name] for name in configuration if name in stateful}
    return PasteSettings(
        kafka_partitions={source.name: configuration[source.name] for source in topology.sources},
        repartition={
            operator.name: configuration[operator.name]
            for operator in topology.operators
            if operator.name not in stateful and operator.name not in inner and not fused
        },
        stateful=tasks_with_state,
        slots=configuration.slots + profile.extra_slots,
        spark={key: masked(key, value) for key, value in spark.items()},
        launch={key: masked(key, value) for key, value in platform.launch_settings.items()},
        source=dict(platform.source_options),
        sink=dict(platform.sink_options),
        master=without_credentials(platform.master) or None,
        inner_partitions=inner,
        shuffle_partitions=next(iter(tasks_with_state.values())) if len(set(tasks_with_state.values())) == 1 else None,
    )


def as_lines(settings: PasteSettings) -> list[str]:
    """Write the settings as lines that a person can paste into a job."""
    lines = [
        f"{_TOPICS} --alter --topic TOPIC --partitions {count}  # {name}'s topic"
        if count > 1
        else f"# one partition of {name}'s topic is enough"
        for name, count in settings.kafka_partitions.items()
    ]
    for name, count in settings.inner_partitions.items():
        lines.append(f"{_TOPICS} --create --topic TOPIC --partitions {count}  # between two queries, read by {name}")
        if count > 1:  # Kafka's client fills a batch of one partition before it goes on to the next
            lines.append(f'.withColumn("partition", F.expr("int(rand() * {count})"))  # of rows for that topic')
    lines += [f"df.repartition({count})  # before {name}" for name, count in settings.repartition.items()]
    lines += [
        f'spark.conf.set("spark.sql.shuffle.partitions", "{count}")  # for {name}; needs a new checkpoint'
        for name, count in settings.stateful.items()
    ]
    lines += [f'spark.conf.set("{name}", "{value}")' for name, value in settings.spark.items()]
    lines += [f'.option("{name}", "{value}")  # of the Kafka source' for name, value in settings.source.items()]
    lines += [f'.option("{name}", "{value}")  # of the Kafka sink' for name, value in settings.sink.items()]
    lines += [f"--conf {name}={value}  # when the session starts" for name, value in settings.launch.items()]
    queries = "these queries" if settings.inner_partitions else "this query"
    cluster = f"a cluster with {settings.slots} slots for {queries}"
    local = f"--master local[{settings.slots}]  # or {cluster}"
    lines.append(f"--master {settings.master}  # {cluster}" if settings.master else local)
    return lines
