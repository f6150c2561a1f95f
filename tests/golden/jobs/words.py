"""Words of lines, with functions whose code is part of a profile's fingerprint."""

from profiler import Cost, Operator, Source, Topology

STOP = ("the", "a")


def split(rows):
    return [word for row in rows for word in row.split() if word not in STOP]


def count(rows):
    return len(rows)


topology = Topology.chain(
    "words",
    Source("lines", payloads="lines.jsonl"),
    Operator("split", split, cost=Cost(cpu_ms=0.05, wait_ms=1.0), selectivity=4.0, output="workload"),
    Operator("count", count, cost=Cost(cpu_ms=0.02, wait_ms=0.5), stateful=True, key="word"),
)
