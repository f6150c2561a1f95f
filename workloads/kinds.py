"""The paper's kinds of operators: what a row costs them, in milliseconds on one core, and code for Spark that costs it.

CPU-bound operators draw 10 000 random numbers per row, I/O-bound ones parse a JSON message and hand it on, so that
they wait for input and output about as long as they work, and sojourn-bound ones wait for an outside service.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from profiler import Cost

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql import DataFrame

# PySpark is imported where it is used: a simulated run does not wait for it.

CPU_BOUND = Cost(cpu_ms=0.3)
IO_BOUND = Cost(cpu_ms=0.03, wait_ms=0.02)
SOJOURN_BOUND = Cost(cpu_ms=0.005, wait_ms=5.0)

SOURCE_ROW = "key string, value string, event_time timestamp"
"""What an operator that changes nothing behind a source states as its schema."""
TWEET = (
    "id bigint, created_at string, lang string, "
    "user struct<id: bigint, screen_name: string, followers_count: bigint>, text string"
)
MOST_ELEMENTS = 100
"""Elements of a topology of any size; no search would come to an end with many more."""
NUMBERS = 10_000
"""Random numbers that a CPU-bound operator draws per row."""


def waiting(wait_ms: float, selectivity: float = 1.0) -> Callable[[Iterator[RecordBatch]], Iterator[RecordBatch]]:
    """Make a function over Arrow batches that waits so long for every row, and gives so many out by its `value`."""

    def wait(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        for batch in batches:
            time.sleep(wait_ms / 1000 * batch.num_rows)
            yield batch if selectivity == 1 else copied_batch(batch, selectivity, by="value")

    return wait


def copied_batch(batch: RecordBatch, selectivity: float, by: str) -> RecordBatch:
    """Do what `copied` does, in an Arrow batch."""
    import pyarrow as pa  # noqa: PLC0415

    whole, part = divmod(selectivity, 1)
    more = [zlib.crc32(str(value).encode()) % 1000 < round(1000 * part) for value in batch.column(by).to_pylist()]
    rows = [row for row, one_more in enumerate(more) for _ in range(int(whole) + one_more)]
    return batch.take(pa.array(rows, pa.int64()))  # also of none: an empty list alone would have no type


def copied(rows: DataFrame, selectivity: float, by: str) -> DataFrame:
    """Give so many rows out per row in; a part of a row falls to those whose column `by` has a small checksum."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    if selectivity == 1:
        return rows
    whole, part = divmod(selectivity, 1)
    gets_more = F.pmod(F.crc32(F.col(by).cast("string")), F.lit(1000)) < F.lit(round(1000 * part))
    copies = F.lit(int(whole)) + gets_more.cast("int")
    return rows.withColumn("copy", F.explode(F.array_repeat(F.lit(0), copies))).drop("copy")
