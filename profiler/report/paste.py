"""Settings to paste: what a configuration means in Kafka's and Spark's own words."""

from __future__ import annotations

from dataclasses import dataclass

from profiler.configuration import Configuration
from profiler.topology import Operator, Topology


@dataclass(frozen=True, slots=True)
class PasteSettings:
    """Kafka partitions per source, `repartition(n)` per operator, shuffle partitions, slots."""

    kafka_partitions: dict[str, int]
    repartition: dict[str, int]
    """Operators without state: `df.repartition(n)` before each."""
    stateful: dict[str, int]
    """Stateful operators: `spark.sql.shuffle.partitions` of the query each one runs in."""
    slots: int

    @property
    def shuffle_partitions(self) -> int | None:
        """Value of `spark.sql.shuffle.partitions`; None where the operators with state ask for different ones."""
        values = set(self.stateful.values())
        return values.pop() if len(values) == 1 else None


def paste_settings(topology: Topology, configuration: Configuration) -> PasteSettings:
    """Translate tasks into settings."""
    stateful = {element.name for element in topology.operators if isinstance(element, Operator) and element.stateful}
    return PasteSettings(
        kafka_partitions={source.name: configuration[source.name] for source in topology.sources},
        repartition={
            operator.name: configuration[operator.name]
            for operator in topology.operators
            if operator.name not in stateful
        },
        stateful={name: configuration[name] for name in configuration if name in stateful},
        slots=configuration.slots,
    )


def as_lines(settings: PasteSettings) -> list[str]:
    """Write the settings as lines that a person can paste into a job."""
    lines = [
        f"kafka-topics.sh --alter --topic {name} --partitions {count}"
        for name, count in settings.kafka_partitions.items()
    ]
    lines += [f"df.repartition({count})  # before {name}" for name, count in settings.repartition.items()]
    lines += [
        f'spark.conf.set("spark.sql.shuffle.partitions", "{count}")  # for {name}'
        for name, count in settings.stateful.items()
    ]
    lines.append(f"--master local[{settings.slots}]  # or a cluster with {settings.slots} slots for this query")
    return lines
