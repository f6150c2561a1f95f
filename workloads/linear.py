"""Linear: one source and a chain of CPU-bound operators, the simplest of the paper's micro-topologies."""

from __future__ import annotations

from profiler import Operator, Source, Topology
from profiler.errors import TopologyError
from workloads.costs import CPU_BOUND


def linear(depth: int = 4) -> Topology:
    """Build a chain of `depth` elements: the source and depth - 1 operators."""
    if depth < 2:
        raise TopologyError(
            f"linear has depth={depth}.", hint="It takes 2 or more: a source and at least one operator."
        )
    steps = [Operator(f"work-{position}", cost=CPU_BOUND) for position in range(1, depth)]
    return Topology.chain("linear", Source("events", payloads="tweets"), *steps)
