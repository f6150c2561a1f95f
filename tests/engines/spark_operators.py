"""Operators of the real tests: small jobs as users write them."""

import time

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812


def text(lines: DataFrame) -> DataFrame:
    return lines.select("event_time", F.get_json_object("value", "$.text").alias("text"))


def words(texts: DataFrame) -> DataFrame:
    return texts.select("event_time", F.explode(F.split("text", " ")).alias("word"))


def count(words: DataFrame) -> DataFrame:
    return words.groupBy("word").agg(F.count("*").alias("n"), F.last("event_time").alias("event_time"))


def left(rows: DataFrame) -> DataFrame:
    return rows.select("event_time", "text", F.lit("left").alias("side"))


def right(rows: DataFrame) -> DataFrame:
    return rows.select(F.lit("right").alias("side"), "text", "event_time")


def keep(rows: DataFrame) -> DataFrame:
    return rows


def without_event_time(rows: DataFrame) -> DataFrame:
    return rows.select("value")


def wait(batches):
    for batch in batches:
        time.sleep(0.010 * batch.num_rows)
        yield batch


def fail(batches):
    for batch in batches:
        yield batch.slice(0, len(batch) // 0)


def divide_by_zero(rows: DataFrame) -> DataFrame:
    return rows.select(
        "event_time",
        (F.lit(1) / (F.length("value") - F.length("value"))).alias("x"),
    )


def no_such_column(rows: DataFrame) -> DataFrame:
    return rows.select("event_time", "nothing")


def highest(counts: DataFrame) -> DataFrame:
    return counts.groupBy("word").agg(F.max("n").alias("n"), F.last("event_time").alias("event_time"))


def pass_on(batches):
    yield from batches


def users(lines: DataFrame) -> DataFrame:
    return lines.select("event_time", F.get_json_object("value", "$.user").alias("user"))


def by_user(rows: DataFrame) -> DataFrame:
    return rows.groupBy("user").agg(F.count("*").alias("n"), F.last("event_time").alias("event_time"))


def dear_by_user(rows: DataFrame) -> DataFrame:
    """Work so long for every row that the rows are what keyed tasks are busy with, not the polling."""
    numbers = F.sequence(F.lit(1), F.lit(2000))
    worked = F.aggregate(numbers, F.col("n"), lambda total, each: (total + each) % 7919)
    return by_user(rows).withColumn("w", worked)


def not_ann(rows: DataFrame) -> DataFrame:
    return rows.where("user <> 'ann'")
