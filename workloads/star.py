"""Star: two sources meet in a hub that feeds two sinks, all I/O-bound; the paper bounds its latency to 100 ms."""

from __future__ import annotations

from profiler import Operator, Source, Topology
from workloads.costs import IO_BOUND


def star(selectivity: float = 1.0) -> Topology:
    """Build the star; `selectivity` is the hub's rows out per row in, to saturate the hops behind it."""
    return Topology(
        "star",
        sources=[Source("left", payloads="tweets"), Source("right", payloads="tweets")],
        operators=[
            Operator("hub", inputs=["left", "right"], cost=IO_BOUND, selectivity=selectivity),
            Operator("store", inputs=["hub"], cost=IO_BOUND),
            Operator("publish", inputs=["hub"], cost=IO_BOUND),
        ],
    )
