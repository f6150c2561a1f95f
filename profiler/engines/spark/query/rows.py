"""What a row looks like in a topic, and how a sampled row carries its times through a user's own operators.

A source gives `key`, `value` and `event_time`, the time the message was due to be sent: Kafka's timestamp, in whole
milliseconds. A user's operators keep `event_time` and drop columns they do not know, so the time of the read must
travel inside it. The microseconds below the millisecond are free: in one source row of `every` they hold a code from 1
to 999 for how long the row had waited when it was read, in the others 0. The code is logarithmic,

    code = 1 + round(998 · ln(1 + waited_ms) / ln(1 + LONGEST_MS)),

so it is exact to the millisecond up to 75 ms and to 0.7 % of the waiting time above. A row at the sink with a code
goes to the side topic; its append time minus these times is its latency. Only sampled rows cost a look at the clock.

On an inner topic a row is JSON, with all its columns: the one encoding that Spark has at hand for every type and that a
person can read in the topic. Timestamps travel as microseconds, as Spark's JSON would round them to milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import BinaryType, LongType, StringType, StructField, StructType, TimestampType

from profiler.experiment.quantiles import QUANTILES

EVENT_TIME = "event_time"
WATCHED = "latency before event_time is lost"
"""Name under which latencies are observed inside a query."""
LONGEST_MS = 600_000.0
"""Longest waiting time that the code can tell: ten minutes of backlog."""
_CODES = 998
_CLOCK = "cast(java_method('java.lang.System', 'currentTimeMillis') as bigint)"
# Nested timestamps, and those without a zone, keep their microseconds; the formats are slow, so they are not used for
# rows that leave the topology.
_JSON = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}

SOURCE_SCHEMA = StructType(
    [StructField("key", StringType()), StructField("value", StringType()), StructField(EVENT_TIME, TimestampType())]
)


def source_rows(messages: DataFrame, every: int) -> DataFrame:
    """Give a source's columns from Kafka's, with one row in `every` marked for its latency."""
    due_ms = "unix_millis(timestamp)"
    waited = f"least({LONGEST_MS}D, greatest(0D, cast({_CLOCK} - {due_ms} as double)))"
    code = f"1 + cast(round({_CODES} * ln(1 + {waited}) / {np.log1p(LONGEST_MS)}D) as bigint)"
    # By a hash of its place and not by turns: a workload file that repeats would show the same few messages.
    sampled = f"pmod(xxhash64(partition, offset), {every}) = 0" if every > 1 else "true"
    return messages.selectExpr(
        "cast(key as string) as key",
        "cast(value as string) as value",
        f"timestamp_micros({due_ms} * 1000 + case when {sampled} then {code} else 0 end) as {EVENT_TIME}",
    )


def latencies_ms(stamps_us: npt.NDArray[np.int64], arrived_ms: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Read processing latencies from the stamps of sampled rows and when they arrived."""
    due_ms, code = stamps_us // 1000, stamps_us % 1000
    waited_ms = np.expm1((code - 1) * np.log1p(LONGEST_MS) / _CODES)
    since_read: npt.NDArray[np.float64] = np.maximum((arrived_ms - due_ms).astype(np.float64) - waited_ms, 0.0)
    return since_read


def watched(rows: DataFrame) -> DataFrame:
    """Observe the latencies of sampled rows here, for an operator that drops `event_time`; known at a batch's end."""
    stamp = f"unix_micros({EVENT_TIME})"
    sampled = f"pmod({stamp}, 1000) > 0"
    waited = f"exp((pmod({stamp}, 1000) - 1) * {np.log1p(LONGEST_MS) / _CODES}D) - 1"
    timed = rows.withColumn("__total", F.expr(f"case when {sampled} then {_CLOCK} - floor({stamp} / 1000) end"))
    timed = timed.withColumn("__since_read", F.expr(f"greatest(0D, __total - ({waited}))"))
    return timed.observe(
        WATCHED,
        F.avg("__since_read").alias("processing_mean"),
        F.percentile_approx("__since_read", list(QUANTILES)).alias("processing"),
    ).drop("__total", "__since_read")


def inner_messages(rows: DataFrame, partitions: Mapping[str, int], mark: tuple[str, int]) -> DataFrame:
    """Encode rows for inner topics, given with their partitions: every row once for each, and a mark for sampled ones.

    A row's partition is drawn at random, as a stream cannot count its rows. Left alone, Kafka's client fills a batch of
    one partition before it goes on to the next: at low rates one task then has all the rows for seconds, and the others
    have none (scripts/benches/results/engine.md).
    """
    fields = [_microseconds(field) for field in rows.schema.fields]
    value = F.to_json(F.struct(*fields), _JSON).alias("value")
    nothing = F.lit(None).cast("string").alias("key")
    everywhere = wanted = F.array(*map(F.lit, partitions))
    stamp = F.lit(None).cast("bigint")
    if EVENT_TIME in rows.columns:
        stamp = _stamp()
        wanted = F.when(_is_sampled(), F.array_append(everywhere, F.lit(mark[0]))).otherwise(everywhere)
    messages = rows.select(stamp.alias("__stamp"), nothing, value, F.explode(wanted).alias("topic"))
    counts = F.create_map(*(F.lit(each) for pair in partitions.items() for each in pair))
    return _with_mark(messages, mark, F.floor(F.rand() * F.try_element_at(counts, F.col("topic"))))


def inner_rows(messages: DataFrame, schema: StructType) -> DataFrame:
    """Decode rows from an inner topic."""
    encoded = StructType(
        [
            StructField(field.name, LongType() if isinstance(field.dataType, TimestampType) else field.dataType)
            for field in schema.fields
        ]
    )
    row = messages.select(F.from_json(F.col("value").cast("string"), encoded, _JSON).alias("row")).select("row.*")
    return row.select(
        *(
            F.timestamp_micros(F.col(_quoted(field.name))).alias(field.name)
            if isinstance(field.dataType, TimestampType)
            else F.col(_quoted(field.name))
            for field in schema.fields
        )
    )


def output_messages(rows: DataFrame, output: str, samples: str, mark: tuple[str, int] | None = None) -> DataFrame:
    """Encode rows that leave the topology: their own `key` and `value` where they have them, else JSON.

    Sampled rows go to the side topic instead, with their stamp as the key, and leave a mark.
    """
    names = {field.name: field.dataType for field in rows.schema.fields}
    plain = isinstance(names.get("value"), StringType | BinaryType)
    value = (F.col("value").cast("string") if plain else F.to_json(F.struct("*"))).alias("value")
    key = F.col("key").cast("string") if "key" in names else F.lit(None).cast("string")
    if EVENT_TIME not in names:
        return rows.select(key.alias("key"), value, F.lit(output).alias("topic"))
    key = F.when(_is_sampled(), _stamp().cast("string")).otherwise(key).alias("key")
    if mark is None:
        return rows.select(key, value, F.when(_is_sampled(), F.lit(samples)).otherwise(F.lit(output)).alias("topic"))
    wanted = F.when(_is_sampled(), F.array(F.lit(samples), F.lit(mark[0]))).otherwise(F.array(F.lit(output)))
    messages = rows.select(_stamp().alias("__stamp"), key, value, F.explode(wanted).alias("topic"))
    return _with_mark(messages, mark, F.lit(None))


def _with_mark(messages: DataFrame, mark: tuple[str, int], others: Column) -> DataFrame:
    """Make those of the mark's topic marks: the stamp as the key, no value, the partition of their query.

    `others` is the partition of all others.
    """
    topic, partition = mark
    is_mark = F.col("topic") == topic
    return messages.select(
        F.when(is_mark, F.col("__stamp").cast("string")).otherwise(F.col("key")).alias("key"),
        F.when(~is_mark, F.col("value")).alias("value"),
        "topic",
        F.when(is_mark, F.lit(partition)).otherwise(others).cast("int").alias("partition"),
    )


def _is_sampled() -> Column:
    return F.pmod(_stamp(), F.lit(1000)) > 0


def _stamp() -> Column:
    return F.unix_micros(EVENT_TIME)


def _microseconds(field: StructField) -> Column:
    column = F.col(_quoted(field.name))
    return (F.unix_micros(column) if isinstance(field.dataType, TimestampType) else column).alias(field.name)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
