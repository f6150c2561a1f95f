"""What a topology's author should know before anything is measured; doubts, not errors.

Errors (a cycle, too few slots) are raised where they arise; a finding is what may be meant that way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from profiler.topology import Operator, Topology

EVENT_TIME = "event_time"


@dataclass(frozen=True, slots=True)
class Finding:
    """One doubt about some elements, and what to do about it."""

    elements: tuple[str, ...]
    message: str
    hint: str

    def __str__(self) -> str:
        names = ", ".join(f"'{name}'" for name in self.elements)
        return f"{names}: {self.message} {self.hint}"


@dataclass(frozen=True, slots=True)
class _Doubt:
    applies: Callable[[Operator], bool]
    message: str
    hint: str


_DOUBTS = (
    _Doubt(
        lambda operator: operator.function is None and operator.cost is None,
        "neither a function nor a Cost is stated.",
        "Give a function (for Spark) or a Cost (for the simulated engine).",
    ),
    _Doubt(
        lambda operator: operator.function is None and operator.cost is not None,
        "no function is stated.",
        "It runs on the simulated engine only.",
    ),
    _Doubt(
        lambda operator: operator.function is not None and operator.cost is None,
        "no Cost is stated.",
        "It runs on Spark only; the simulated engine needs cost=Cost(cpu_ms=…).",
    ),
    _Doubt(
        lambda operator: operator.stateful and operator.key is None,
        "stateful without a key.",
        "State key='column', so that a hot key can be named.",
    ),
    _Doubt(
        lambda operator: operator.key is not None and not operator.stateful,
        "a key is stated, but not stateful=True.",
        "State both or neither.",
    ),
    _Doubt(
        lambda operator: operator.batches is not None and operator.schema is None,
        "a Python operator without a schema.",
        "Spark needs one, such as schema='event_time timestamp, word string'.",
    ),
)


def findings(topology: Topology, slots: int | None) -> tuple[Finding, ...]:
    """Look at what the topology states; `slots` is None where they are not known yet."""
    found = []
    for doubt in _DOUBTS:
        elements = tuple(operator.name for operator in topology.operators if doubt.applies(operator))
        if elements:
            found.append(Finding(elements, doubt.message, doubt.hint))
    today = topology.today
    if today is not None and slots is not None and sum(today.values()) > slots:
        found.append(
            Finding(
                tuple(name for name, tasks in today.items() if tasks > 1),
                f"today's job needs {sum(today.values())} slots, but there are {slots}.",
                "It cannot be measured as it runs today.",
            )
        )
    return tuple(found)


def event_time_findings(topology: Topology, columns: Mapping[str, Sequence[str]]) -> tuple[Finding, ...]:
    """Name the operators that lose the column `event_time`; only where it is lost, not further down."""
    found = []
    for operator in topology.operators:
        arrives = any(EVENT_TIME in columns.get(name, ()) for name in operator.inputs)
        if operator.name in columns and arrives and EVENT_TIME not in columns[operator.name]:
            aggregated = '.agg(…, F.last("event_time").alias("event_time"))'
            kept = aggregated if operator.stateful else '.select("event_time", …)'
            found.append(
                Finding(
                    (operator.name,),
                    "the column event_time is dropped, so latency is measured up to here only.",
                    f"Keep it: {kept}.",
                )
            )
    return tuple(found)
