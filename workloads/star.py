"""Star: two sources meet in a hub that feeds two sinks, all I/O-bound; the paper bounds its latency to 100 ms."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from profiler import Operator, Source, Topology
from profiler.job.topology import Function

from .kinds import IO_BOUND, TWEET, copied
from .selectivities import selectivities

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def hub(rows: DataFrame, selectivity: float = 1.0) -> DataFrame:
    """Parse messages of both sources and write them again, as often as asked for."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    parsed = rows.select("event_time", F.to_json(F.from_json("value", TWEET)).alias("message"))
    return copied(parsed, selectivity, by="message")


def store(messages: DataFrame, selectivity: float = 1.0) -> DataFrame:
    """Give what a table of tweets would hold."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    tweets = messages.select("event_time", F.from_json("message", TWEET).alias("tweet"))
    stored = tweets.select("event_time", F.lit("store").alias("sink"), "tweet.id", "tweet.text")
    return copied(stored, selectivity, by="id")


def publish(messages: DataFrame, selectivity: float = 1.0) -> DataFrame:
    """Give what a subscriber would be told."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    tweets = messages.select("event_time", F.from_json("message", TWEET).alias("tweet"))
    told = tweets.select("event_time", F.lit("publish").alias("sink"), "tweet.id", "tweet.user.screen_name")
    return copied(told, selectivity, by="id")


def star(selectivity: float = 1.0, **selectivity_: float) -> Topology:
    """Build the star; `selectivity` is the hub's rows out per row in, to saturate the hops behind it.

    `selectivity_store` and `selectivity_publish` are those of the sinks, which else give one row for each.
    """
    rows_out = selectivities(("hub", "store", "publish"), 1.0, {"selectivity_hub": selectivity, **selectivity_})

    def parsing(name: str, function: Function, inputs: Sequence[str]) -> Operator:
        each = rows_out[name]
        return Operator(name, partial(function, selectivity=each), inputs, cost=IO_BOUND, selectivity=each)

    return Topology(
        "star",
        sources=[Source("left", payloads="tweets"), Source("right", payloads="tweets")],
        operators=[
            parsing("hub", hub, ["left", "right"]),
            parsing("store", store, ["hub"]),
            parsing("publish", publish, ["hub"]),
        ],
        latency_ms=100,
    )
