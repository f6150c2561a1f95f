"""Star: two sources meet in a hub that feeds two sinks, all I/O-bound; the paper bounds its latency to 100 ms."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from profiler import Operator, Source, Topology
from workloads.kinds import IO_BOUND, TWEET, copied

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def hub(rows: DataFrame, selectivity: float = 1.0) -> DataFrame:
    """Parse messages of both sources and write them again, as often as asked for."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    parsed = rows.select("event_time", F.to_json(F.from_json("value", TWEET)).alias("message"))
    return copied(parsed, selectivity, by="message")


def store(messages: DataFrame) -> DataFrame:
    """Give what a table of tweets would hold."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    tweets = messages.select("event_time", F.from_json("message", TWEET).alias("tweet"))
    return tweets.select("event_time", F.lit("store").alias("sink"), "tweet.id", "tweet.text")


def publish(messages: DataFrame) -> DataFrame:
    """Give what a subscriber would be told."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    tweets = messages.select("event_time", F.from_json("message", TWEET).alias("tweet"))
    return tweets.select("event_time", F.lit("publish").alias("sink"), "tweet.id", "tweet.user.screen_name")


def star(selectivity: float = 1.0) -> Topology:
    """Build the star; `selectivity` is the hub's rows out per row in, to saturate the hops behind it."""
    return Topology(
        "star",
        sources=[Source("left", payloads="tweets"), Source("right", payloads="tweets")],
        operators=[
            Operator(
                "hub",
                partial(hub, selectivity=selectivity),
                ["left", "right"],
                cost=IO_BOUND,
                selectivity=selectivity,
            ),
            Operator("store", store, ["hub"], cost=IO_BOUND),
            Operator("publish", publish, ["hub"], cost=IO_BOUND),
        ],
    )
