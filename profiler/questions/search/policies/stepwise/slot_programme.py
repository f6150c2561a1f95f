"""Beyond the paper: with the slots as a hard limit, compute the tasks that the measured loads ask for.

    maximise T   subject to   T · load_i ≤ n_i,   Σ n_i ≤ slots,   T ≤ what the cores allow

where load_i are busy seconds per source row. For a fixed T the fewest tasks are n_i = ceil(T · load_i), so the best T
is found by giving one task at a time to the element that bounds T: exact for this max-min problem, and the tasks are
then trimmed to the fewest that reach the same T.
Operators dominated by a logic-dependent one do not grow with T: they get what their busy time per second asks for.

The model is poor on purpose: it knows nothing of contention, hops, skew or the cost of threads. Its proposal is a
trial like every other, kept only if the test accepts it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from profiler.questions.search.policies.incumbent import Search
from profiler.questions.search.policies.stepwise.costs import Costs

ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Bounds:
    """Fewest and most tasks of one element."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """Tasks per element and the throughput that the model expects of them."""

    tasks: dict[str, int]
    predicted_per_s: float
    cpu_bound: bool
    """Whether the cores, not the slots, are what limits it."""


def propose(
    loads: Mapping[str, float],
    by_cpu_per_s: float,
    *,
    bounds: Mapping[str, Bounds],
    fixed: Mapping[str, int],
    slots: int,
) -> Proposal:
    """Solve the programme; `by_cpu_per_s` is the throughput that the cores allow, infinite where unknown."""
    tasks = {name: bounds[name].low for name in loads}
    free = slots - sum(tasks.values()) - sum(fixed.values())
    while free > 0:
        limit = min(tasks, key=lambda name: _rate(tasks[name], loads[name]))
        enough = _rate(tasks[limit], loads[limit]) >= by_cpu_per_s
        if enough or tasks[limit] >= bounds[limit].high:
            break
        tasks[limit] += 1
        free -= 1
    by_slots = min((_rate(count, loads[name]) for name, count in tasks.items()), default=math.inf)
    reached = min(by_slots, by_cpu_per_s)
    trimmed = {
        name: max(bounds[name].low, min(count, math.ceil(reached * loads[name] - ROUNDING)))
        for name, count in tasks.items()
    }
    return Proposal({**trimmed, **fixed}, reached, cpu_bound=by_cpu_per_s <= by_slots)


def balanced(
    proposal: Proposal, costs: Costs, bounds: Mapping[str, Bounds], *, slots: int, cores: int, nodes: int
) -> Proposal:
    """Make the tasks multiples of the nodes where the cores are the limit, unless what had to be left out costs more.

    Tasks are dealt over the nodes in turn, so only multiples load all nodes alike; where the cores are the limit, the
    fullest node limits them all.
    """
    if not proposal.cpu_bound or nodes == 1:
        return proposal
    even = _multiples(proposal.tasks, bounds, slots, nodes)

    def most_per_s(tasks: Mapping[str, int]) -> float:
        of_fullest_s = sum(costs.cpu_s[name] * math.ceil(tasks[name] / nodes) / tasks[name] for name in bounds)
        by_tasks = min(_rate(tasks[name], costs.busy_s[name]) for name in bounds)
        return min(by_tasks, cores / nodes / of_fullest_s if of_fullest_s > 0 else math.inf)

    return replace(proposal, tasks=max(even, proposal.tasks, key=most_per_s))


def _multiples(tasks: Mapping[str, int], bounds: Mapping[str, Bounds], slots: int, nodes: int) -> dict[str, int]:
    """Round tasks that may grow up to multiples of the nodes, those first that lack least; down where slots end."""

    def rounded(name: str, whole: int) -> int:
        return max(bounds[name].low, min(whole * nodes or tasks[name], bounds[name].high))

    even = {**tasks, **{name: rounded(name, tasks[name] // nodes) for name in bounds}}
    more = {name: rounded(name, math.ceil(tasks[name] / nodes)) for name in bounds}
    for name in sorted(bounds, key=lambda name: more[name] - tasks[name]):
        if sum(even.values()) + more[name] - even[name] <= slots:
            even[name] = more[name]
    return even


def element_bounds(search: Search, names: Iterable[str]) -> dict[str, Bounds]:
    """Return the bounds of the named elements in this search."""
    return {name: Bounds(search.clamp(name, 1), search.clamp(name, search.context.slots)) for name in names}


def _rate(tasks: int, load_s: float) -> float:
    return tasks / load_s if load_s > 0 else math.inf
