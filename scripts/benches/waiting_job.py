"""A job whose one operator waits for a service: its tasks hardly need a core, but each has a Python worker."""

from __future__ import annotations

from profiler import Cost, Operator, Source, Topology
from workloads.kinds import SOURCE_ROW, waiting

WAIT_MS = 7.0

topology = Topology.chain(
    "waits-7-ms",
    Source("in", payloads="tweets"),
    Operator("look_up", waiting(WAIT_MS), batches="arrow", schema=SOURCE_ROW, cost=Cost(cpu_ms=0.005, wait_ms=WAIT_MS)),
)
