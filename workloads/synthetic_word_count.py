"""Synthetic word count: word count behind an operator that keeps every message for a millisecond.

The waiting operator asks an outside service, as far as the profiler can see: it uses next to no CPU, and only more
tasks let more messages wait at the same time. It sleeps once per Arrow batch, for as long as its rows ask for together.
"""

from __future__ import annotations

from profiler import Batches, Cost, Operator, Output, Source, Topology

from .kinds import SOJOURN_BOUND, SOURCE_ROW, waiting
from .word_count import count, parse, split


def synthetic_word_count(wait_ms: float = 1.0) -> Topology:
    """Build source → wait → parse → split → count."""
    wait = Operator(
        "wait",
        waiting(wait_ms),
        batches=Batches.ARROW,
        schema=SOURCE_ROW,
        output=Output.PROPORTIONAL,
        cost=Cost(cpu_ms=SOJOURN_BOUND.cpu_ms, wait_ms=wait_ms),
    )
    return Topology.chain(
        "synthetic-word-count",
        Source("tweets", payloads="tweets"),
        wait,
        Operator("parse", parse, output=Output.PROPORTIONAL, cost=Cost(cpu_ms=0.03)),
        Operator("split", split, output=Output.WORKLOAD, cost=Cost(cpu_ms=0.02), selectivity=10.0),
        Operator("count", count, stateful=True, key="word", cost=Cost(cpu_ms=0.004), hot_key_share=0.05),
    )
