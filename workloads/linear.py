"""Linear: one source and a chain of CPU-bound operators, the simplest of the paper's micro-topologies."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from profiler import Operator, Source, Topology
from profiler.errors import TopologyError
from profiler.job.random_numbers import last_number

from .kinds import CPU_BOUND, MOST_ELEMENTS, NUMBERS, copied
from .selectivities import selectivities

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def work(rows: DataFrame, selectivity: float = 1.0) -> DataFrame:
    """Draw random numbers from the row's own on: the one it was given, or its message's checksum."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    first = F.col("number") if "number" in rows.columns else F.crc32("value")
    return copied(rows.select("event_time", last_number(first, NUMBERS).alias("number")), selectivity, by="number")


def linear(depth: int = 4, selectivity: float = 1.0, **selectivity_: float) -> Topology:
    """Build a chain of `depth` elements: the source and depth - 1 operators with so many rows out per row in.

    `selectivity_work_2` and the like are those of single operators.
    """
    if not 2 <= depth <= MOST_ELEMENTS:
        raise TopologyError(
            f"linear has depth={depth}.",
            hint=f"It takes 2 to {MOST_ELEMENTS}: a source and at least one operator, and what a search copes with.",
        )
    rows_out = selectivities([f"work-{position}" for position in range(1, depth)], selectivity, selectivity_)
    steps = [
        Operator(name, partial(work, selectivity=each), cost=CPU_BOUND, selectivity=each)
        for name, each in rows_out.items()
    ]
    return Topology.chain("linear", Source("events", payloads="tweets"), *steps)
