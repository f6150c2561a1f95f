"""What of a topology contradicts itself: refused when it is built, with the element's name and the way out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from profiler.errors import TopologyError, did_you_mean
from profiler.job.fields import shown

if TYPE_CHECKING:
    from profiler.job.topology import Element, Operator, Source

_ABOVE_ZERO = {
    "selectivity": "Selectivity is positive.",
    "emits_per_s": "It is positive.",
    "pull_per_s": "It is positive.",
}
"""Rates and ratios of an element, with the hint where one of them is not."""


def check_names(topology: str, elements: Sequence[Element]) -> None:
    """Refuse names that are empty or given twice."""
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


def check_inputs(sources: Sequence[Source], operators: Sequence[Operator]) -> None:
    """Refuse a topology without elements, and operators that read nothing or what does not exist."""
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
                f"Operator '{operator.name}' has {shown(operator.function)} as its function.",
                hint="Give a function, or name its inputs: inputs=[…].",
            )
        if len(set(operator.inputs)) < len(operator.inputs):
            raise TopologyError(f"Operator '{operator.name}' names an input twice.", hint="Name each input once.")


def check_read(sources: Sequence[Source], operators: Sequence[Operator]) -> None:
    """Refuse sources that nothing reads."""
    read = {name for operator in operators for name in operator.inputs}
    for source in sources:
        if source.name not in read:
            raise TopologyError(
                f"Source '{source.name}' is read by no operator.", hint="Name it in an operator's inputs."
            )


def check_bounds(element: Element) -> None:
    """Refuse an element whose tasks, bounds and costs contradict one another."""
    label = f"{type(element).__name__} '{element.name}'"
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
    for field, hint in _ABOVE_ZERO.items():
        value = getattr(element, field, None)
        if value is not None and not value > 0:
            raise TopologyError(f"{label} has {field}={value}.", hint=hint)
    hot_key_share = getattr(element, "hot_key_share", 0.0)
    if not 0 <= hot_key_share <= 1:
        raise TopologyError(f"{label} has hot_key_share={hot_key_share}.", hint="It lies between 0 and 1.")


def check_latency(topology: str, latency_ms: float | None) -> None:
    """Refuse a latency constraint that nothing could keep."""
    if latency_ms is not None and not 0 < latency_ms < math.inf:
        raise TopologyError(
            f"Topology '{topology}' has latency_ms={latency_ms}.", hint="A latency is positive and finite."
        )


def check_shares(sources: Sequence[Source]) -> None:
    """Refuse shares of the offered rate that do not add up."""
    stated = [source.share for source in sources if source.share is not None]
    if any(not 0 < share <= 1 for share in stated):
        raise TopologyError("A source's share lies outside 0 to 1.", hint="Shares are parts of the offered rate.")
    total = sum(stated)
    if total > 1 + 1e-9 or (len(stated) == len(sources) and stated and total < 1 - 1e-9):
        raise TopologyError(f"The sources' shares add up to {total:g}.", hint="They must add up to 1.")
    if len(stated) < len(sources) and total >= 1:
        raise TopologyError("The stated shares leave nothing for the other sources.", hint="Lower a share.")
