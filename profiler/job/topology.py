"""What users write: a DAG of sources and operators, each operator a plain PySpark function.

Nothing here imports Spark. A topology checks itself when it is built, so that every later room may rely on it:
names are unique, inputs exist, there is no cycle, every operator is reached by a source, bounds agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeVar

from profiler.errors import TopologyError
from profiler.job.contradictions import (
    check_bounds,
    check_inputs,
    check_latency,
    check_names,
    check_read,
    check_shares,
)
from profiler.job.fields import checked_latency, checked_list, checked_name, plain, shown

Function = Callable[..., Any]
"""An operator's own code: `DataFrame -> DataFrame`, or a function over an iterator of Arrow or pandas batches."""


class Output(StrEnum):
    """The kind of an operator's output: how it grows with its input."""

    PROPORTIONAL = "proportional"
    WORKLOAD = "workload"
    LOGIC = "logic"
    """The output does not grow with the input: a Top N on a timer."""


class Batches(StrEnum):
    """What a Python operator iterates over."""

    ARROW = "arrow"
    PANDAS = "pandas"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one row costs: CPU and waiting time in milliseconds, and memory per task.

    Lets the simulated engine run a topology without Spark code; a stored profile fills it from measurement.
    """

    cpu_ms: float = 0.0
    wait_ms: float = 0.0
    memory_mb: float = 0.0


@dataclass(frozen=True, slots=True)
class Source:
    """A stream that enters the topology: rows with the columns `key`, `value` and `event_time`."""

    name: str
    payloads: str | None = None
    """A data maker's name or a file of JSON lines that the generator replays."""
    tasks: int | None = None
    """Tasks that run today, where anything does."""
    min_tasks: int = 1
    max_tasks: int | None = None
    cost: Cost = Cost(cpu_ms=0.01)
    """The cost of pulling one row, for the simulated engine."""
    pull_per_s: float | None = None
    """Rows one task can pull at the most, for the simulated engine; None leaves it to the engine."""
    share: float | None = None
    """The part of the offered rate that goes to this source; None splits what is left evenly."""

    parallel = True
    inputs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator: the job's own function, where its rows come from, and what bounds its tasks."""

    name: str
    function: Function | None = None
    inputs: Sequence[str] = ()
    output: Output | str | None = None
    """Declared kind of output; None lets step 1 measure it."""
    stateful: bool = False
    key: str | None = None
    parallel: bool = True
    tasks: int | None = None
    """Tasks that run today, where anything does."""
    min_tasks: int = 1
    max_tasks: int | None = None
    batches: Batches | str | None = None
    schema: str | None = None
    """Output schema (DDL) of a Python operator."""
    cost: Cost | None = None
    selectivity: float | None = None
    """Rows out per row in, for the simulated engine; None is 1."""
    emits_per_s: float | None = None
    """Rows a logic-dependent operator emits per second whatever its input, for the simulated engine; None is 1."""
    hot_key_share: float = 0.0
    """Share of the rows that carry the most frequent key, for the simulated engine; they all go to one task."""


Element = Source | Operator


class Topology:
    """A DAG of sources and operators that has been checked; sources first, then operators downstream."""

    def __init__(
        self,
        name: str,
        sources: Sequence[Source],
        operators: Sequence[Operator],
        *,
        latency_ms: float | None = None,
    ) -> None:
        self.name = name = checked_name(name, "A topology")
        self.latency_ms = checked_latency(latency_ms, name)
        """The job's own constraint on its processing latency, where nobody sets another one."""
        named = _named(name, checked_list(sources, Source, name, "sources"))
        named_operators = _named(name, checked_list(operators, Operator, name, "operators"), after=len(named))
        check_names(name, [*named, *named_operators])
        self.sources = tuple(map(_normalised_source, named))
        declared = tuple(map(_normalised, named_operators))
        check_inputs(self.sources, declared)
        self.operators = _downstream_order(declared)
        for element in self.elements:
            check_bounds(element)
        check_shares(self.sources)
        check_latency(name, latency_ms)
        check_read(self.sources, self.operators)

    @classmethod
    def chain(cls, name: str, source: Source, *steps: Operator | Function, latency_ms: float | None = None) -> Topology:
        """Build the linear case: each step takes the one before it; a plain function takes its own name."""
        checked_list([source], Source, name, "sources")
        operators: list[Operator] = []
        before = source.name
        for step in steps:
            if not isinstance(step, Operator):
                step_name = getattr(step, "__name__", "")
                if step_name in ("", "<lambda>"):
                    raise TopologyError(
                        f"Step {len(operators) + 1} of chain '{name}' has no name.",
                        hint="Give it one: Operator('name', function).",
                    )
                step = Operator(step_name, step)  # noqa: PLW2901 - a step becomes the operator it stands for
            operators.append(step if step.inputs else replace(step, inputs=(before,)))
            before = step.name
        return cls(name, [source], operators, latency_ms=latency_ms)

    def changed(
        self, *, sources: Sequence[Source] | None = None, operators: Sequence[Operator] | None = None
    ) -> Topology:
        """Return the same topology with other sources or other operators."""
        return Topology(
            self.name,
            self.sources if sources is None else sources,
            self.operators if operators is None else operators,
            latency_ms=self.latency_ms,
        )

    @cached_property
    def elements(self) -> tuple[Element, ...]:
        """Sources, then operators in downstream order."""
        return (*self.sources, *self.operators)

    @cached_property
    def keyed(self) -> frozenset[str]:
        """Operators whose rows are dealt to tasks by a key."""
        return frozenset(each.name for each in self.operators if each.stateful or each.key is not None)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all elements, sources first."""
        return tuple(element.name for element in self.elements)

    @cached_property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """All (from, to) pairs in downstream order."""
        return tuple((before, operator.name) for operator in self.operators for before in operator.inputs)

    def __getitem__(self, name: str) -> Element:
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[Element]:
        return iter(self.elements)

    def successors(self, name: str) -> tuple[str, ...]:
        """Operators that read what this element emits."""
        return tuple(after for before, after in self.edges if before == name)

    @cached_property
    def today(self) -> dict[str, int] | None:
        """Tasks as they run today where any are stated (the others have one); None where none are."""
        if all(element.tasks is None for element in self.elements):
            return None
        return {element.name: element.tasks or element.min_tasks for element in self.elements}

    @cached_property
    def source_shares(self) -> dict[str, float]:
        """Part of the offered rate that each source receives; sums to 1."""
        stated = sum(source.share or 0.0 for source in self.sources)
        open_sources = [source for source in self.sources if source.share is None]
        left = max(0.0, 1.0 - stated) / len(open_sources) if open_sources else 0.0
        return {source.name: left if source.share is None else source.share for source in self.sources}

    @cached_property
    def _by_name(self) -> dict[str, Element]:
        return {element.name: element for element in self.elements}

    def __repr__(self) -> str:
        return f"Topology({self.name!r}, {' '.join(self.names)})"


E = TypeVar("E", bound=Element)


def _named(topology: str, elements: Sequence[E], after: int = 0) -> list[E]:
    return [
        replace(each, name=checked_name(each.name, f"{type(each).__name__} number {number} of '{topology}'"))
        for number, each in enumerate(elements, start=after + 1)
    ]


def _normalised_source(source: Source) -> Source:
    label = f"Source '{source.name}'"
    return replace(plain(source, f"{label} has"), cost=_normalised_cost(source.cost, label))


def _normalised_cost(cost: Cost, label: str) -> Cost:
    if not isinstance(cost, Cost):
        raise TopologyError(f"{label} has cost={shown(cost)}.", hint="Write it as cost=Cost(cpu_ms=…).")
    return plain(cost, f"{label} has the impossible cost")


def _normalised(operator: Operator) -> Operator:
    """Turn strings into enums and one name into a tuple of names, so that later rooms see one form only."""
    label = f"Operator '{operator.name}'"
    return replace(
        plain(operator, f"{label} has"),
        cost=None if operator.cost is None else _normalised_cost(operator.cost, label),
        output=_choice(Output, operator.output, operator.name, "output"),
        batches=_choice(Batches, operator.batches, operator.name, "batches"),
    )


def _choice(kind: type[StrEnum], value: str | None, operator: str, field: str) -> Any:
    if value is None:
        return None
    try:
        return kind(value)
    except (ValueError, TypeError):
        choices = ", ".join(f"'{choice}'" for choice in kind)
        raise TopologyError(
            f"Operator '{operator}' has {field}={shown(value)}.", hint=f"{field} is one of {choices}."
        ) from None


def _downstream_order(operators: Sequence[Operator]) -> tuple[Operator, ...]:
    by_name = {operator.name: operator for operator in operators}
    graph = {operator.name: [name for name in operator.inputs if name in by_name] for operator in operators}
    try:
        order = tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        cycle = " → ".join(error.args[1])
        raise TopologyError(f"The operators form a cycle: {cycle}.", hint="Remove one of these inputs.") from None
    return tuple(by_name[name] for name in order)
