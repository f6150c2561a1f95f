"""A job whose work is a function over batches: what `scripts/bench gate_spark` drills beside SQL."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from profiler import Batches, Cost, Operator, Source, Topology

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql import DataFrame

ROUNDS = 250
"""Checksums of every message, each of the one before: some 30 µs."""


def lower(rows: DataFrame) -> DataFrame:
    """Write messages small."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415 - the bench's own process does without Spark

    return rows.select("event_time", F.lower("value").alias("value"))


def checksum(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
    """Compute the checksum of every message."""
    import pyarrow as pa  # noqa: PLC0415

    for batch in batches:
        sums = pa.array([str(_checksum(value.encode())) for value in batch["value"].to_pylist()], pa.string())
        yield pa.RecordBatch.from_pydict({"event_time": batch["event_time"], "value": sums})


def _checksum(message: bytes) -> int:
    found = 0
    for _ in range(ROUNDS):
        found = zlib.crc32(message, found)
    return found


topology = Topology.chain(
    "checksums",
    Source("tweets", payloads="tweets"),
    Operator("lower", lower, cost=Cost(cpu_ms=0.01)),
    Operator(
        "checksum",
        checksum,
        batches=Batches.ARROW,
        schema="event_time timestamp, value string",
        cost=Cost(cpu_ms=0.06),
    ),
)
