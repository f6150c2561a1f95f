"""Diamond: one source fans out to operators of every kind, which meet again; its bottleneck is hard to guess."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from profiler import Batches, Cost, Operator, Source, Topology
from profiler.job.random_numbers import last_number
from profiler.job.topology import Function

from .kinds import CPU_BOUND, IO_BOUND, NUMBERS, SOJOURN_BOUND, SOURCE_ROW, TWEET, copied, waiting
from .selectivities import selectivities

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def compute(rows: DataFrame, selectivity: float = 1.0) -> DataFrame:
    """Draw random numbers from the message's checksum on; the last is the row's new key."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    drawn = rows.withColumn("key", last_number(F.crc32("value"), NUMBERS).cast("string"))
    return copied(drawn, selectivity, by="value")


def parse(rows: DataFrame, selectivity: float = 1.0) -> DataFrame:
    """Parse the message and write it again."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    return copied(rows.withColumn("value", F.to_json(F.from_json("value", TWEET))), selectivity, by="value")


def meet(rows: DataFrame, selectivity: float = 1.0) -> DataFrame:
    """Parse what comes from all four sides."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    tweets = rows.select("event_time", "key", F.from_json("value", TWEET).alias("tweet"))
    return copied(tweets.select("event_time", "key", "tweet.id", "tweet.text"), selectivity, by="id")


def diamond(wait_ms: float = SOJOURN_BOUND.wait_ms, selectivity: float = 1.0, **selectivity_: float) -> Topology:
    """Build source → one CPU-, one I/O- and two sojourn-bound operators → meeting point.

    Every middle operator receives the whole stream, so the meeting point receives it four times. `selectivity` is the
    rows out per row in of all operators, `selectivity_compute` and the like of one.
    """
    sojourn_bound = Cost(cpu_ms=SOJOURN_BOUND.cpu_ms, wait_ms=wait_ms)
    middle = ("compute", "parse", "ask", "look-up")
    rows_out = selectivities((*middle, "meet"), selectivity, selectivity_)

    def plain(name: str, function: Function, inputs: Sequence[str], cost: Cost) -> Operator:
        each = rows_out[name]
        return Operator(name, partial(function, selectivity=each), inputs, cost=cost, selectivity=each)

    def service(name: str) -> Operator:
        each = rows_out[name]
        return Operator(
            name,
            waiting(wait_ms, each),
            ["events"],
            batches=Batches.ARROW,
            schema=SOURCE_ROW,
            cost=sojourn_bound,
            selectivity=each,
        )

    return Topology(
        "diamond",
        sources=[Source("events", payloads="tweets")],
        operators=[
            plain("compute", compute, ["events"], CPU_BOUND),
            plain("parse", parse, ["events"], IO_BOUND),
            service("ask"),
            service("look-up"),
            plain("meet", meet, middle, IO_BOUND),
        ],
    )
