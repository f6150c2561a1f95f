"""Diamond: one source fans out to operators of every kind, which meet again; its bottleneck is hard to guess."""

from __future__ import annotations

from profiler import Cost, Operator, Source, Topology
from workloads.costs import CPU_BOUND, IO_BOUND, SOJOURN_BOUND


def diamond(wait_ms: float = SOJOURN_BOUND.wait_ms) -> Topology:
    """Build source → one CPU-, one I/O- and two sojourn-bound operators → meeting point.

    Every middle operator receives the whole stream, so the meeting point receives it four times.
    """
    sojourn_bound = Cost(cpu_ms=SOJOURN_BOUND.cpu_ms, wait_ms=wait_ms)
    middle = {"compute": CPU_BOUND, "parse": IO_BOUND, "ask": sojourn_bound, "look-up": sojourn_bound}
    return Topology(
        "diamond",
        sources=[Source("events", payloads="tweets")],
        operators=[
            *(Operator(name, inputs=["events"], cost=cost) for name, cost in middle.items()),
            Operator("meet", inputs=list(middle), cost=IO_BOUND),
        ],
    )
