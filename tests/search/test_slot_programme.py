"""The slot programme: the most throughput that slots and cores allow, with the fewest tasks."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiler.experiment.disturbance import Disturbance
from profiler.questions.search.policies.policy import SearchContext
from profiler.questions.search.policies.stepwise.costs import Costs, waits_for_cores
from profiler.questions.search.policies.stepwise.slot_programme import Bounds, Proposal, balanced, propose
from profiler.questions.search.readings.cpu_cost import CpuCost
from tests.scenarios import WAITS, operator_window, outcome

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


@pytest.mark.parametrize(
    ("tasks", "slots", "even"),
    [
        ({"a": 1, "b": 5}, 8, {"a": 2, "b": 6}),
        ({"a": 1, "b": 5}, 6, {"a": 2, "b": 4}),
        ({"a": 1, "b": 2}, 3, {"a": 1, "b": 2}),
    ],
    ids=["all fit", "what lacks least goes up, the rest down", "nothing to gain"],
)
def test_tasks_are_even_over_the_nodes_where_the_cores_are_the_limit(tasks, slots, even):
    """The fullest of two nodes bounds the job: five tasks put three of them on one."""
    loads = {"a": 0.00005, "b": 0.0005}
    costs = Costs(loads, loads, CpuCost(0.0, 0.00055))
    bounds = {name: Bounds(1, slots) for name in tasks}
    proposal = Proposal(tasks, 7000.0, cpu_bound=True)
    assert balanced(proposal, costs, bounds, slots=slots, cores=4, nodes=2).tasks == even
    by_slots = replace(proposal, cpu_bound=False)
    assert balanced(by_slots, costs, bounds, slots=slots, cores=4, nodes=2).tasks == tasks


def test_only_work_needs_more_tasks_where_cores_are_shared():
    """Four threads on a core each take four times as long to work, and as long as alone to wait."""
    costs = Costs({"asks": 0.0071, "works": 0.0004}, {"asks": 0.0001, "works": 0.0004}, CpuCost(0.0, 0.0005))
    assert costs.sharing_cores() == pytest.approx({"asks": 0.0074, "works": 0.0016})


@pytest.mark.parametrize(("taken_cores", "waits"), [(0.0, False), (1.2, True)])
def test_tasks_wait_for_cores_that_a_neighbour_took(taken_cores, waits):
    """Half of two cores in use is all of what is left, where others have more than one."""
    context = SearchContext(WAITS, slots=8, cores=2)
    operators = {name: operator_window(busy_s=3.0, cpu_s=0.75) for name in WAITS.names}
    seen = outcome(dict.fromkeys(WAITS.names, 1), [100.0, 100.0], operators=operators)
    disturbed = [
        replace(each, disturbance=Disturbance(cores=2, other_cores=taken_cores)) for each in seen.measurement.windows
    ]
    found = replace(seen, measurement=replace(seen.measurement, windows=tuple(disturbed)))
    assert waits_for_cores(found, context) is waits


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
