"""A clickstream: the stream parts behind `parse`, one branch asks a service about every user, two keep state.

    clicks → parse → people → segment → by_segment    (Python, waits for a service; counts by segment)
                   → by_page                          (counts by page)

Run it: profile check examples/clickstream/topology.py, then profile run examples/clickstream/topology.py.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from profiler import Batches, Cost, Operator, Source, Topology

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql import DataFrame

CLICK = "user string, page string, agent string, ms int"
SEGMENTS = ("new", "regular", "fan")
ANSWERS_IN_MS = 2.0
"""Time that the service which knows the users takes; here it is only waited for."""


def parse(messages: DataFrame) -> DataFrame:
    """Read the clicks."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415 - a simulated run does not wait for PySpark

    clicks = messages.select("event_time", F.from_json("value", CLICK).alias("click"))
    return clicks.select("event_time", "click.*").where("user is not null")


def people(clicks: DataFrame) -> DataFrame:
    """Leave crawlers out."""
    return clicks.where("agent not like 'crawler%'").select("event_time", "user", "ms")


def segment(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
    """Ask for the segment of every user."""
    import pyarrow as pa  # noqa: PLC0415

    for batch in batches:
        time.sleep(ANSWERS_IN_MS / 1000 * batch.num_rows)
        users = batch["user"].to_pylist()
        segments = [segment_of(user) for user in users]
        yield pa.RecordBatch.from_pydict({"event_time": batch["event_time"], "segment": segments, "ms": batch["ms"]})


def segment_of(user: str) -> str:
    """Stand in for the service: the same user is always in the same segment."""
    return SEGMENTS[zlib.crc32(user.encode()) % len(SEGMENTS)]


def by_segment(clicks: DataFrame) -> DataFrame:
    """Count the clicks of every segment, and how long they took."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    return clicks.groupBy("segment").agg(
        F.count("*").alias("clicks"), F.sum("ms").alias("ms"), F.last("event_time").alias("event_time")
    )


def by_page(clicks: DataFrame) -> DataFrame:
    """Count the clicks of every page, crawlers too."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    return clicks.groupBy("page").agg(F.count("*").alias("clicks"), F.last("event_time").alias("event_time"))


topology = Topology(
    "clickstream",
    sources=[Source("clicks", payloads="clicks.jsonl")],
    operators=[
        Operator("parse", parse, inputs=["clicks"], cost=Cost(cpu_ms=0.02)),
        Operator("people", people, inputs=["parse"], cost=Cost(cpu_ms=0.003), selectivity=5 / 6),
        Operator(
            "segment",
            segment,
            inputs=["people"],
            batches=Batches.ARROW,
            schema="event_time timestamp, segment string, ms int",
            cost=Cost(cpu_ms=0.02, wait_ms=ANSWERS_IN_MS),
        ),
        Operator("by_segment", by_segment, inputs=["segment"], stateful=True, key="segment", cost=Cost(cpu_ms=0.02)),
        Operator("by_page", by_page, inputs=["parse"], stateful=True, key="page", cost=Cost(cpu_ms=0.02)),
    ],
)
