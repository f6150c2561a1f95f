"""Diamond: one source fans out to operators of every kind, which meet again; its bottleneck is hard to guess."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profiler import Batches, Cost, Operator, Source, Topology
from profiler.random_numbers import last_number
from workloads.kinds import CPU_BOUND, IO_BOUND, NUMBERS, SOJOURN_BOUND, SOURCE_ROW, TWEET, waiting

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def compute(rows: DataFrame) -> DataFrame:
    """Draw random numbers from the message's checksum on; the last is the row's new key."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    return rows.withColumn("key", last_number(F.crc32("value"), NUMBERS).cast("string"))


def parse(rows: DataFrame) -> DataFrame:
    """Parse the message and write it again."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    return rows.withColumn("value", F.to_json(F.from_json("value", TWEET)))


def meet(rows: DataFrame) -> DataFrame:
    """Parse what comes from all four sides."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    return rows.select("event_time", "key", F.from_json("value", TWEET).alias("tweet")).select(
        "event_time", "key", "tweet.id", "tweet.text"
    )


def diamond(wait_ms: float = SOJOURN_BOUND.wait_ms) -> Topology:
    """Build source → one CPU-, one I/O- and two sojourn-bound operators → meeting point.

    Every middle operator receives the whole stream, so the meeting point receives it four times.
    """
    sojourn_bound = Cost(cpu_ms=SOJOURN_BOUND.cpu_ms, wait_ms=wait_ms)

    def service(name: str) -> Operator:
        return Operator(
            name, waiting(wait_ms), ["events"], batches=Batches.ARROW, schema=SOURCE_ROW, cost=sojourn_bound
        )

    return Topology(
        "diamond",
        sources=[Source("events", payloads="tweets")],
        operators=[
            Operator("compute", compute, ["events"], cost=CPU_BOUND),
            Operator("parse", parse, ["events"], cost=IO_BOUND),
            service("ask"),
            service("look-up"),
            Operator("meet", meet, ["compute", "parse", "ask", "look-up"], cost=IO_BOUND),
        ],
    )
