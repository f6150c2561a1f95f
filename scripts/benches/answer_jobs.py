"""Small jobs whose answers `scripts/bench answer` holds against the best there is, each bound by something else.

Of each the bench tries some configurations around what its slots allow, as tasks of sources and operators in their
order. They are dense where the best one is to be expected, on two cores with 40 slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from profiler import Cost, Operator, Source, Topology
from profiler.job.configuration import Configuration
from profiler.job.loading import load_topology
from scripts.benches import checksums, waiting_job
from workloads.diamond import meet, parse
from workloads.kinds import IO_BOUND, SOURCE_ROW, waiting

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Tasks = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """A job of the bench."""

    name: str
    topology: Topology
    sweep: Sequence[Tasks]
    """Tasks that are tried besides those of the profiles' answers."""
    held: int = 1
    """How many of the fastest are run to find what they hold: where the latency binds, the fastest one under stress
    need not be the one that holds the most."""

    def configuration(self, tasks: Sequence[int]) -> Configuration:
        """Return tasks as a configuration."""
        return Configuration.of(dict(zip(self.topology.names, tasks, strict=True)))


def by_user(rows: DataFrame) -> DataFrame:
    """Give two rows of three to one user."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415 - the bench's own process does without Spark

    sums = F.crc32("value")
    user = F.when(F.pmod(sums, F.lit(3)) < 2, F.lit("hot")).otherwise(F.pmod(sums, F.lit(1000)).cast("string"))
    return rows.select("event_time", user.alias("user"))


def score(rows: DataFrame) -> DataFrame:
    """Count the rows of every user, and work on each count for a while: that is done where the state is."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    counted = rows.groupBy("user").agg(F.count("*").alias("n"), F.last("event_time").alias("event_time"))
    numbers = F.sequence(F.lit(1), F.lit(1000))
    worked = F.aggregate(numbers, F.col("n"), lambda total, each: (total + each) % 7919)
    return counted.withColumn("score", worked)


def _asking(name: str, inputs: Sequence[str] = ()) -> Operator:
    cost = Cost(cpu_ms=0.005, wait_ms=2.0)
    return Operator(name, waiting(2.0), inputs, batches="arrow", schema=SOURCE_ROW, cost=cost)


WAITS_2_MS = Topology.chain("waits-2-ms", Source("in", payloads="tweets"), _asking("look_up"))
HOT_KEY = Topology.chain(
    "hot-key",
    Source("in", payloads="tweets"),
    Operator("by_user", by_user, cost=Cost(cpu_ms=0.01)),
    Operator("score", score, stateful=True, key="user", cost=Cost(cpu_ms=0.1), hot_key_share=2 / 3),
)
FAN_OUT = Topology(
    "fan-out",
    sources=[Source("events", payloads="tweets")],
    operators=[
        Operator("parse", parse, ["events"], cost=IO_BOUND),
        _asking("ask", ["events"]),
        Operator("meet", meet, ["parse", "ask"], cost=IO_BOUND),
    ],
)

JOBS = (
    Job("waits 2 ms", WAITS_2_MS, [(1, each) for each in (8, 12, 16, 20, 24, 29, 34, 39)]),
    Job("waits 7 ms", waiting_job.topology, [*((1, each) for each in (14, 18, 22, 26, 30, 34, 39)), (2, 38)]),
    Job(
        "CPU in Python",
        checksums.topology,
        [(1, 1, 1), (1, 1, 2), (1, 1, 3), (1, 1, 4), (1, 1, 6), (1, 2, 2), (2, 1, 2), (2, 2, 4)],
    ),
    Job(
        "SQL with state",
        load_topology("word-count"),
        [
            (1, 1, 1, 1),
            (1, 1, 1, 2),
            (1, 1, 1, 3),
            (1, 1, 1, 4),
            (1, 1, 1, 6),
            (1, 1, 2, 4),
            (1, 2, 2, 4),
            (2, 1, 1, 2),
        ],
    ),
    Job(
        "fan-out",
        FAN_OUT,
        [
            (1, 1, 4, 1),
            (1, 1, 8, 1),
            (1, 1, 12, 1),
            (1, 1, 16, 1),
            (1, 1, 20, 1),
            (1, 1, 26, 1),
            (1, 1, 32, 1),
            (1, 2, 16, 2),
        ],
    ),
    Job(
        "hot key",
        HOT_KEY,
        [(1, 1, 1), (1, 1, 2), (1, 1, 3), (1, 1, 4), (1, 1, 6), (1, 1, 8), (1, 2, 2), (2, 1, 2)],
    ),
    Job(
        "latency of 100 ms",
        load_topology("star"),
        [
            (1, 1, 1, 1, 1),
            (1, 1, 2, 1, 1),
            (1, 1, 1, 2, 2),
            (1, 1, 2, 2, 2),
            (1, 1, 3, 1, 1),
            (1, 1, 4, 2, 2),
            (2, 2, 2, 2, 2),
            (2, 2, 4, 4, 4),
        ],
        held=3,
    ),
)
