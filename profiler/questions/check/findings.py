"""What a topology's author should know before anything is measured: how Spark would run it, and what is doubtful.

Errors (a cycle, fewer slots than asked for) are raised where they arise; a finding is what may be meant that way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from profiler.engines.catalogue import Room
from profiler.engines.spark.layout.chains import Layout, extra_slots, layout
from profiler.errors import TopologyError
from profiler.job.configuration import Configuration
from profiler.job.slots import smallest_configuration
from profiler.job.topology import Operator, Topology
from profiler.services.user_path import user_path
from profiler.shipped import DATA

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
class Checked:
    """What `profile check` found out."""

    topology: Topology
    room: Room
    bound: int | None
    """Most tasks that the user lets the search use."""
    fewest: Configuration
    layout: Layout | None
    """The layout of the fewest tasks, every operator in a stage of its own; None where Spark cannot run them."""
    layout_today: Layout | None
    """The layout of today's tasks; None where none are stated."""
    columns: Mapping[str, Sequence[str]] | None
    """Columns of every element; None where nobody looked."""
    findings: tuple[Finding, ...]

    @property
    def slots_needed(self) -> int:
        """Slots for the fewest tasks: one for each, and what Spark needs besides."""
        return self.fewest.slots if self.layout is None else self.layout.slots

    @property
    def slots_available(self) -> int | None:
        """Slots that tasks may use; None where that is not known."""
        known = [self.bound, self.room.slots if self.layout is not None else None]
        return min((slots for slots in known if slots is not None), default=None)

    @property
    def event_time_lost_at(self) -> tuple[str, ...]:
        """Operators that drop the column `event_time`."""
        return () if self.columns is None else _losing(self.topology, self.columns)


def check(
    topology: Topology, *, bound: int | None, room: Room, columns: Mapping[str, Sequence[str]] | None = None
) -> Checked:
    """Lay the topology out as Spark would run it and look for doubts; raise where `bound` slots cannot hold it."""
    fewest = smallest_configuration(topology, bound)
    today = None if topology.today is None else Configuration.of(topology.today)
    laid_out = _layout(topology, fewest)
    layout_today = None if laid_out is None or today is None else _layout(topology, today)
    readers = 0 if laid_out is None else extra_slots(topology)
    slots = None if bound is None else bound + readers
    found: list[Finding] = []
    if laid_out is not None and room.slots is not None:
        slots = room.slots if slots is None else min(slots, room.slots)
        if laid_out.slots > room.slots:
            found.append(_no_room(topology, laid_out.slots, room))
    found += findings(topology, slots, readers)
    if laid_out is not None:
        found += payload_findings(topology)
    if columns is not None:
        found += event_time_findings(topology, columns)
    return Checked(topology, room, bound, fewest, laid_out, layout_today, columns, tuple(found))


def _layout(topology: Topology, configuration: Configuration) -> Layout | None:
    try:
        return layout(topology, configuration, apart=True)
    except TopologyError:
        return None  # an operator that Spark cannot run; the findings say which


def _no_room(topology: Topology, needed: int, room: Room) -> Finding:
    return Finding(
        topology.names,
        f"{needed} slots are needed at the least, but {room.master} has {room.slots}.",
        f"Give Spark more: --master 'local[{needed}]' or a cluster.",
    )


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
    _Doubt(
        lambda operator: operator.batches is not None and operator.stateful,
        "stateful, but a function over batches, which Spark keeps no state for.",
        "Write it as a function DataFrame -> DataFrame.",
    ),
)


def findings(topology: Topology, slots: int | None, readers: int = 0) -> tuple[Finding, ...]:
    """Look at what the topology states; `slots` is None where they are not known yet, `readers` need one each too."""
    found = []
    for doubt in _DOUBTS:
        elements = tuple(operator.name for operator in topology.operators if doubt.applies(operator))
        if elements:
            found.append(Finding(elements, doubt.message, doubt.hint))
    today = topology.today or {}
    needed = sum(today.values()) + readers
    if today and slots is not None and needed > slots:
        found.append(
            Finding(
                tuple(name for name, tasks in today.items() if tasks > 1),
                f"today's job needs {needed} slots, but there are {slots}.",
                "It cannot be measured as it runs today.",
            )
        )
    return tuple(found)


def payload_findings(topology: Topology) -> tuple[Finding, ...]:
    """Name the sources that have nothing to send on Spark."""
    hint = f"Name a file of JSON lines or one of {', '.join(DATA)}: payloads='…', or --payloads."
    unstated = tuple(source.name for source in topology.sources if source.payloads is None)
    found = [Finding(unstated, "no payloads are stated, so there is nothing to send.", hint)] if unstated else []
    for source in topology.sources:
        named = source.payloads
        if named is not None and named not in DATA and not user_path(named).is_file():
            found.append(Finding((source.name,), f"the payloads '{named}' are neither a file nor known data.", hint))
    return tuple(found)


def event_time_findings(topology: Topology, columns: Mapping[str, Sequence[str]]) -> tuple[Finding, ...]:
    """Name the operators that lose the column `event_time`; only where it is lost, not further down."""
    aggregated, selected = '.agg(…, F.last("event_time").alias("event_time"))', '.select("event_time", …)'
    stateful = {operator.name for operator in topology.operators if operator.stateful}
    return tuple(
        Finding(
            (name,),
            "the column event_time is dropped, so latency is measured up to here only.",
            f"Keep it: {aggregated if name in stateful else selected}.",
        )
        for name in _losing(topology, columns)
    )


def _losing(topology: Topology, columns: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    return tuple(
        operator.name
        for operator in topology.operators
        if any(EVENT_TIME in columns.get(name, ()) for name in operator.inputs)
        and EVENT_TIME not in columns.get(operator.name, (EVENT_TIME,))
    )
