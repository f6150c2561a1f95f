"""What users write: a DAG of sources and operators, each operator a plain PySpark function.

Nothing here imports Spark. A topology checks itself when it is built, so that every later room may rely on it:
names are unique, inputs exist, there is no cycle, every operator is reached by a source, bounds agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any

from profiler.errors import TopologyError, did_you_mean

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
        self.name = name
        self.sources = tuple(sources)
        self.latency_ms = latency_ms
        """The job's own constraint on its processing latency, where nobody sets another one."""
        declared = tuple(_normalised(operator) for operator in operators)
        _check_names(name, [*self.sources, *declared])
        _check_inputs(self.sources, declared)
        self.operators = _downstream_order(declared)
        for element in self.elements:
            _check_bounds(element)
        _check_shares(self.sources)
        _check_latency(name, latency_ms)
        _check_read(self.sources, self.operators)

    @classmethod
    def chain(cls, name: str, source: Source, *steps: Operator | Function, latency_ms: float | None = None) -> Topology:
        """Build the linear case: each step takes the one before it; a plain function takes its own name."""
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


def _normalised(operator: Operator) -> Operator:
    """Turn strings into enums and one name into a tuple of names, so that later rooms see one form only."""
    inputs = (operator.inputs,) if isinstance(operator.inputs, str) else tuple(operator.inputs)
    return replace(
        operator,
        inputs=inputs,
        output=_choice(Output, operator.output, operator.name, "output"),
        batches=_choice(Batches, operator.batches, operator.name, "batches"),
    )


def _choice(kind: type[StrEnum], value: str | None, operator: str, field: str) -> Any:
    if value is None:
        return None
    try:
        return kind(value)
    except ValueError:
        choices = ", ".join(f"'{choice}'" for choice in kind)
        raise TopologyError(
            f"Operator '{operator}' has {field}={value!r}.", hint=f"{field} is one of {choices}."
        ) from None


def _check_names(topology: str, elements: Sequence[Element]) -> None:
    if not topology:
        raise TopologyError("A topology has an empty name.", hint="Give it one: Topology('name', …).")
    seen: set[str] = set()
    for position, element in enumerate(elements, start=1):
        kind = type(element).__name__
        if not element.name or not element.name.strip():
            raise TopologyError(f"{kind} number {position} of '{topology}' has an empty name.", hint="Give it one.")
        if element.name in seen:
            raise TopologyError(
                f"Two elements of '{topology}' are called '{element.name}'.", hint="Names must differ: rename one."
            )
        seen.add(element.name)


def _check_inputs(sources: Sequence[Source], operators: Sequence[Operator]) -> None:
    if not sources:
        raise TopologyError("The topology has no source.", hint="Add one: sources=[Source('name', payloads=…)].")
    if not operators:
        raise TopologyError("The topology has no operator.", hint="Add one: operators=[Operator('name', function, …)].")
    known = [source.name for source in sources] + [operator.name for operator in operators]
    for operator in operators:
        if not operator.inputs:
            raise TopologyError(
                f"Operator '{operator.name}' has no input, so no source reaches it.",
                hint=f"Say where its rows come from: inputs=['{known[0]}'].",
            )
        for name in operator.inputs:
            if name not in known:
                hint = did_you_mean(name, known, otherwise=f"Known names: {', '.join(known)}.")
                raise TopologyError(f"Operator '{operator.name}' reads from '{name}', which does not exist.", hint=hint)
        if operator.function is not None and not callable(operator.function):
            raise TopologyError(
                f"Operator '{operator.name}' has {operator.function!r} as its function.",
                hint="Give a function, or name its inputs: inputs=[…].",
            )
        if len(set(operator.inputs)) < len(operator.inputs):
            raise TopologyError(f"Operator '{operator.name}' names an input twice.", hint="Name each input once.")


def _downstream_order(operators: Sequence[Operator]) -> tuple[Operator, ...]:
    by_name = {operator.name: operator for operator in operators}
    graph = {operator.name: [name for name in operator.inputs if name in by_name] for operator in operators}
    try:
        order = tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        cycle = " → ".join(error.args[1])
        raise TopologyError(f"The operators form a cycle: {cycle}.", hint="Remove one of these inputs.") from None
    return tuple(by_name[name] for name in order)


def _check_read(sources: Sequence[Source], operators: Sequence[Operator]) -> None:
    read = {name for operator in operators for name in operator.inputs}
    for source in sources:
        if source.name not in read:
            raise TopologyError(
                f"Source '{source.name}' is read by no operator.", hint="Name it in an operator's inputs."
            )


def _check_bounds(element: Element) -> None:
    label = f"{type(element).__name__} '{element.name}'"
    for field in ("tasks", "min_tasks", "max_tasks"):
        value = getattr(element, field)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            raise TopologyError(f"{label} has {field}={value!r}.", hint="Task counts are whole numbers from 1.")
    if element.max_tasks is not None and element.min_tasks > element.max_tasks:
        raise TopologyError(
            f"{label} has min_tasks={element.min_tasks} above max_tasks={element.max_tasks}.",
            hint="Swap or widen them.",
        )
    if not element.parallel and (element.min_tasks > 1 or (element.tasks or 1) > 1):
        raise TopologyError(
            f"{label} is parallel=False but asks for more than one task.", hint="Drop parallel=False or its tasks."
        )
    if element.tasks is not None and not element.min_tasks <= element.tasks <= (element.max_tasks or element.tasks):
        bounds = f"min_tasks={element.min_tasks} and max_tasks={element.max_tasks}"
        raise TopologyError(f"{label} runs {element.tasks} tasks today, outside {bounds}.", hint="Widen the bounds.")
    _check_cost(element, label)


def _check_cost(element: Element, label: str) -> None:
    if element.cost is not None:
        for field in ("cpu_ms", "wait_ms", "memory_mb"):
            if not 0 <= getattr(element.cost, field) < math.inf:
                raise TopologyError(
                    f"{label} has the impossible cost {field}={getattr(element.cost, field)}.",
                    hint="Costs are positive and finite.",
                )
        if element.cost.cpu_ms + element.cost.wait_ms <= 0:
            raise TopologyError(f"{label} has a Cost of neither CPU nor waiting time.", hint="State cpu_ms or wait_ms.")
    if isinstance(element, Operator):
        if element.selectivity is not None and not element.selectivity > 0:
            raise TopologyError(f"{label} has selectivity={element.selectivity}.", hint="Selectivity is positive.")
        if element.emits_per_s is not None and not element.emits_per_s > 0:
            raise TopologyError(f"{label} has emits_per_s={element.emits_per_s}.", hint="It is positive.")
        if not 0 <= element.hot_key_share <= 1:
            raise TopologyError(f"{label} has hot_key_share={element.hot_key_share}.", hint="It lies between 0 and 1.")
    elif element.pull_per_s is not None and not element.pull_per_s > 0:
        raise TopologyError(f"{label} has pull_per_s={element.pull_per_s}.", hint="It is positive.")


def _check_latency(topology: str, latency_ms: float | None) -> None:
    if latency_ms is not None and not 0 < latency_ms < math.inf:
        raise TopologyError(
            f"Topology '{topology}' has latency_ms={latency_ms}.", hint="A latency is positive and finite."
        )


def _check_shares(sources: Sequence[Source]) -> None:
    stated = [source.share for source in sources if source.share is not None]
    if any(not 0 < share <= 1 for share in stated):
        raise TopologyError("A source's share lies outside 0 to 1.", hint="Shares are parts of the offered rate.")
    total = sum(stated)
    if total > 1 + 1e-9 or (len(stated) == len(sources) and stated and total < 1 - 1e-9):
        raise TopologyError(f"The sources' shares add up to {total:g}.", hint="They must add up to 1.")
    if len(stated) < len(sources) and total >= 1:
        raise TopologyError("The stated shares leave nothing for the other sources.", hint="Lower a share.")
