"""The same job for `profile`: its functions as they are, and how they follow each other."""

from __future__ import annotations

from job import parse, price, total

from profiler import Operator, Source, Topology

topology = Topology.chain(
    "orders",
    Source("orders", payloads="orders.jsonl"),
    parse,
    price,
    Operator("total", total, stateful=True, key="shop"),
)
