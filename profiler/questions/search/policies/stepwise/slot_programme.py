"""Beyond the paper: with the slots as a hard limit, compute the tasks that the measured loads ask for.

    maximise T   subject to   T · load_i ≤ n_i,   Σ n_i ≤ slots,   T · Σ cpu_i ≤ cores

where load_i and cpu_i are busy and CPU seconds per source row. For a fixed T the fewest tasks are
n_i = ceil(T · load_i), so the best T is found by giving one task at a time to the element that bounds T: exact for
this max-min problem, and the tasks are then trimmed to the fewest that reach the same T.
Operators dominated by a logic-dependent one do not grow with T: they get what their busy time per second asks for.

The model is poor on purpose: it knows nothing of contention, hops, skew or the cost of threads. Its proposal is a
trial like every other, kept only if the test accepts it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from profiler.questions.search.policies.incumbent import Search

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
    cpu_s_per_row: float,
    *,
    bounds: Mapping[str, Bounds],
    fixed: Mapping[str, int],
    slots: int,
    cores: int,
    fill: bool = False,
) -> Proposal:
    """Solve the programme; `fill` goes on to the slots where the cores are the limit.

    Threads that share cores fairly get them in proportion to their number, so where the cores are the limit, tasks in
    proportion to the loads, as many as the slots allow, starve nobody.
    """
    by_cpu = cores / cpu_s_per_row if cpu_s_per_row > 0 else math.inf
    goal = math.inf if fill else by_cpu
    tasks = {name: bounds[name].low for name in loads}
    free = slots - sum(tasks.values()) - sum(fixed.values())
    while free > 0:
        limit = min(tasks, key=lambda name: _rate(tasks[name], loads[name]))
        enough = _rate(tasks[limit], loads[limit]) >= goal
        if enough or tasks[limit] >= bounds[limit].high:
            break
        tasks[limit] += 1
        free -= 1
    by_slots = min((_rate(count, loads[name]) for name, count in tasks.items()), default=math.inf)
    reached = min(by_slots, goal)
    trimmed = {
        name: max(bounds[name].low, min(count, math.ceil(reached * loads[name] - ROUNDING)))
        for name, count in tasks.items()
    }
    return Proposal({**trimmed, **fixed}, min(by_slots, by_cpu), cpu_bound=by_cpu <= by_slots)


def balanced(proposal: Proposal, bounds: Mapping[str, Bounds], *, slots: int, nodes: int) -> Proposal:
    """Round the tasks up to multiples of the nodes where the cores are the limit, slots permitting.

    Tasks are dealt over the nodes in turn, so only multiples load all nodes alike; where the cores are the limit, the
    fullest node limits them all.
    """
    if not proposal.cpu_bound or nodes == 1:
        return proposal
    even = {
        name: min(math.ceil(count / nodes) * nodes, bounds[name].high) if name in bounds else count
        for name, count in proposal.tasks.items()
    }
    return replace(proposal, tasks=even) if sum(even.values()) <= slots else proposal


def element_bounds(search: Search, names: Iterable[str]) -> dict[str, Bounds]:
    """Return the bounds of the named elements in this search."""
    return {name: Bounds(search.clamp(name, 1), search.clamp(name, search.context.slots)) for name in names}


def _rate(tasks: int, load_s: float) -> float:
    return tasks / load_s if load_s > 0 else math.inf
