"""The slot programme: the most throughput that slots and cores allow, with the fewest tasks."""

from __future__ import annotations

import itertools
import math

from hypothesis import given, settings
from hypothesis import strategies as st

from profiler.questions.search.policies.stepwise.slot_programme import Bounds, propose

WAITS_S = {"a": 0.002, "b": 0.008, "c": 0.004}


def solve(loads, *, slots, by_cpu_per_s=math.inf, high=64, fixed=None):
    bounds = {name: Bounds(1, high) for name in loads}
    return propose(loads, by_cpu_per_s, bounds=bounds, fixed=fixed or {}, slots=slots)


def test_it_solves_the_tie_that_single_additions_cannot():
    """Waits of 2, 8, 4 ms at 14 slots are (2, 8, 4) and 1000 rows/s, where adding one by one stops at 750."""
    proposal = solve(WAITS_S, slots=14)
    assert proposal.tasks == {"a": 2, "b": 8, "c": 4}
    assert math.isclose(proposal.predicted_per_s, 1000)


def test_it_asks_for_no_more_tasks_than_the_cores_can_feed():
    """With CPU as the limit the fewest tasks that reach it are enough."""
    proposal = solve({"a": 0.001, "b": 0.003}, slots=100, by_cpu_per_s=1000)
    assert proposal.cpu_bound
    assert math.isclose(proposal.predicted_per_s, 1000)
    assert proposal.tasks == {"a": 1, "b": 3}


def test_a_bound_on_one_operator_bounds_the_rest():
    """Nobody gets tasks that an operator at its limit could not feed."""
    bounds = {"a": Bounds(1, 2), "b": Bounds(1, 50)}
    proposal = propose({"a": 0.01, "b": 0.001}, math.inf, bounds=bounds, fixed={}, slots=40)
    assert proposal.tasks == {"a": 2, "b": 1}


def test_fixed_operators_take_their_slots_first():
    """Operators that do not grow with the load keep their tasks and their slots."""
    proposal = solve(WAITS_S, slots=17, fixed={"rank": 3})
    assert proposal.tasks == {"a": 2, "b": 8, "c": 4, "rank": 3}


@settings(max_examples=60, deadline=None)
@given(
    loads=st.lists(st.floats(0.001, 0.05), min_size=1, max_size=3),
    slots=st.integers(3, 12),
)
def test_it_equals_the_grid(loads, slots):
    """No configuration that fits the slots has a higher bound, and none that reaches it has fewer tasks."""
    named = {f"o{index}": load for index, load in enumerate(loads)}
    proposal = solve(named, slots=slots)
    best, fewest = 0.0, 0
    for counts in itertools.product(range(1, slots + 1), repeat=len(loads)):
        if sum(counts) > slots:
            continue
        rate = min(count / load for count, load in zip(counts, loads, strict=True))
        if rate > best * (1 + 1e-9):
            best, fewest = rate, sum(counts)
        elif math.isclose(rate, best):
            fewest = min(fewest, sum(counts))
    assert math.isclose(proposal.predicted_per_s, best)
    assert sum(proposal.tasks.values()) == fewest
