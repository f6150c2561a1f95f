"""Costs only, as a gate's versions differ in them."""

from profiler import Cost, Operator, Source, Topology

topology = Topology.chain(
    "steps", Source("rows"), Operator("work", cost=Cost(cpu_ms=0.3)), Operator("count", cost=Cost(cpu_ms=0.5))
)
