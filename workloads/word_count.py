"""Word count: JSON tweets are parsed, split into words and counted; the functions are a plain PySpark job's.

The costs let the simulated engine run it. A tweet has ten words on average, and the most frequent one makes up a
twentieth of all, as words follow Zipf's law.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from profiler import Cost, Operator, Output, Source, Topology

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# PySpark is imported where it is used: a simulated run does not wait for it.


def parse(tweets: DataFrame) -> DataFrame:
    """Take the text out of a JSON tweet; a message that is none gives no words further down."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    return tweets.select("event_time", F.get_json_object(F.col("value"), "$.text").alias("text"))


def split(texts: DataFrame) -> DataFrame:
    """Give one row per word, in lower case."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    words = F.array_remove(F.split(F.lower("text"), r"\s+"), "")
    return texts.select("event_time", F.explode(words).alias("word"))


def count(words: DataFrame) -> DataFrame:
    """Count every word; the event time is the current row's, as latency is measured by it."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    return words.groupBy("word").agg(F.count("*").alias("n"), F.last("event_time").alias("event_time"))


topology = Topology.chain(
    "word-count",
    Source("tweets", payloads="tweets"),
    Operator("parse", parse, output=Output.PROPORTIONAL, cost=Cost(cpu_ms=0.03)),
    Operator("split", split, output=Output.WORKLOAD, cost=Cost(cpu_ms=0.02), selectivity=10.0),
    Operator("count", count, stateful=True, key="word", cost=Cost(cpu_ms=0.004), hot_key_share=0.05),
)
