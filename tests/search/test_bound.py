"""Where an answer holds: by CPU on so many cores, by waiting, by the source, by a key, by what was offered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profiler import Cost, Operator, Source, Topology
from profiler.engines.simulated import SimulatedEngine, SimulatedPlatform
from profiler.experiment.disturbance import Disturbance
from profiler.experiment.engine import Platform
from profiler.experiment.observation import Detail, OperatorWindow
from profiler.experiment.rounds import Action
from profiler.experiment.window_plan import WindowPlan
from profiler.history.fingerprint.fingerprint import Fingerprint
from profiler.questions.search.answer import Profile
from profiler.questions.search.bound import By, bound_of
from profiler.questions.search.conclusion import profile_of
from profiler.questions.search.document import profile_document
from profiler.questions.search.loop import Loop
from profiler.questions.search.operators import classes_in_words, parts_of, start_of, state_in_words, state_rows
from profiler.questions.search.policies import POLICIES
from profiler.questions.search.policies.policy import Parameters, SearchContext
from profiler.questions.search.result import SearchResult
from profiler.questions.search.validity import where_it_holds
from profiler.statistics.doubt import Doubt
from tests.scenarios import outcome


def profiled(
    *operators: Operator, source: Source | None = None, slots: int = 16, latency_ms: float = 500, cores: int = 2
) -> SearchResult:
    topology = Topology.chain("job", source or Source("in", cost=Cost(cpu_ms=0.001)), *operators)
    engine = SimulatedEngine(SimulatedPlatform(nodes=1, cores_per_node=cores, slots=slots), seed=1)
    parameters = Parameters(latency_ms=latency_ms)
    return Loop(engine, topology, POLICIES["stepwise"](), parameters=parameters, design=WindowPlan(blocks=0)).run()


@pytest.mark.parametrize(("cores", "named"), [(1, "1 core"), (2, "2 cores")])
def test_cpu_names_the_cores(cores, named):
    profile = profiled(Operator("work", cost=Cost(cpu_ms=0.3)), cores=cores)
    assert bound_of(profile).by is By.CPU
    assert where_it_holds(profile).startswith(f"bound by CPU on {named} (")


def test_waiting_names_the_operator_and_the_slots_that_are_missing():
    profile = profiled(Operator("ask", cost=Cost(cpu_ms=0.005, wait_ms=5)))
    bound = bound_of(profile)
    assert (bound.by, bound.element) == (By.WAITING, "ask")
    said = where_it_holds(profile)
    assert "bound by waiting in 'ask'" in said
    assert "holds wherever it answers as fast" in said
    assert "all 16 slots are used" in said


def test_waiting_for_a_core_is_not_the_operator_s_own():
    """Rounds after the first one cannot tell the two apart; the first one saw that it only works."""
    profile = profiled(Operator("rank", cost=Cost(cpu_ms=0.5), parallel=False))
    windows = tuple(
        replace(window, operators={name: queueing(seen) for name, seen in window.operators.items()})
        for window in profile.answer.measurement.windows
    )
    answer = replace(profile.answer, number=2, measurement=replace(profile.answer.measurement, windows=windows))
    answer = replace(answer, trial=replace(answer.trial, detail=Detail.LIGHT))
    later = replace(profile, answer=answer, rounds=(*profile.rounds, answer))
    assert bound_of(later).by is By.OPERATOR
    assert bound_of(replace(later, rounds=(answer,))).by is By.WAITING, "where nobody saw it in full"


def queueing(seen: OperatorWindow) -> OperatorWindow:
    return replace(seen, waiting_s=0.8 * seen.busy_s)


def test_a_source_that_can_pull_no_more_is_named():
    profile = profiled(Operator("work", cost=Cost(cpu_ms=0.001)), source=Source("in", pull_per_s=500, max_tasks=1))
    assert bound_of(profile).element == "in"
    assert "bound by the source 'in'" in where_it_holds(profile)


def test_an_operator_that_may_have_one_task_only_is_named():
    profile = profiled(Operator("rank", cost=Cost(cpu_ms=0.5), parallel=False))
    assert (bound_of(profile).by, bound_of(profile).element) == (By.OPERATOR, "rank")
    assert "bound by 'rank'" in where_it_holds(profile)
    assert "slots are used" not in where_it_holds(profile)


def doubted(profile: SearchResult, doubt: Doubt) -> SearchResult:
    answer = replace(profile.answer, measurement=replace(profile.answer.measurement, doubts=(doubt,)))
    return replace(profile, answer=answer)


@pytest.mark.parametrize("doubt", [Doubt.GENERATOR_LIMITED, Doubt.NOT_SATURATED])
def test_an_answer_that_was_not_stressed_is_not_bound_by_the_job(doubt):
    profile = profiled(Operator("ask", cost=Cost(cpu_ms=0.005, wait_ms=5)))
    assert where_it_holds(doubted(profile, doubt)).startswith("not bound by the job: ")


def test_a_generator_that_is_late_as_the_job_uses_all_cores_is_no_bound():
    """It waits for a core, as all that shares the machine does: more rows a second would need more cores."""
    profile = profiled(Operator("work", cost=Cost(cpu_ms=0.3)))
    assert bound_of(doubted(profile, Doubt.GENERATOR_LIMITED)).by is By.CPU


def test_cores_that_other_programs_have_are_none_to_spare():
    """Half of the machine is all that the job had, and it used that: more tasks would gain nothing."""
    profile = profiled(Operator("ask", cost=Cost(cpu_ms=0.02, wait_ms=0.2)), slots=4)
    assert bound_of(profile).by is not By.CPU
    used = 2 * bound_of(profile).cores_share
    others = Disturbance(cores=2, other_cores=2 - used / 0.95)
    windows = tuple(replace(window, disturbance=others) for window in profile.answer.measurement.windows)
    answer = replace(profile.answer, measurement=replace(profile.answer.measurement, windows=windows))
    beside = replace(profile, answer=answer)
    assert bound_of(beside).by is By.CPU
    assert f"{others.other_cores / 2:.0%} by other programs)" in where_it_holds(beside)


def test_a_throttled_answer_is_bound_by_its_latency():
    profile = profiled(Operator("work", cost=Cost(cpu_ms=0.3)))
    measurement = profile.answer.measurement
    throttled = replace(measurement, configuration=measurement.configuration.throttled(100))
    answer = replace(profile.answer, measurement=throttled)
    assert bound_of(replace(profile, answer=answer)).by is By.LATENCY
    assert "latency constraint of 500 ms" in where_it_holds(replace(profile, answer=answer))


def test_no_operator_is_blamed_where_all_of_them_are_idle_for_long():
    profile = profiled(Operator("ask", cost=Cost(cpu_ms=0.005, wait_ms=5)))
    windows = tuple(
        replace(window, operators={name: idler(seen) for name, seen in window.operators.items()})
        for window in profile.answer.measurement.windows
    )
    answer = replace(profile.answer, measurement=replace(profile.answer.measurement, windows=windows))
    bound = bound_of(replace(profile, answer=answer))
    assert (bound.by, bound.element) == (By.HAND_OVER, None)
    assert "nothing is in full use (the busiest task 4" in where_it_holds(replace(profile, answer=answer))


def idler(seen: OperatorWindow) -> OperatorWindow:
    return replace(seen, busy_s=0.4 * seen.busy_s, busiest_task_s=0.4 * seen.busiest_task_s)


def told(found: SearchResult, prefill: str | None = None) -> Profile:
    asked = {} if prefill is None else {"prefill": prefill}
    fingerprint = Fingerprint("job", {}, {}, {}, {}, asked, stated_slots=True)
    return profile_of(found, run="r", engine="simulated", environment={}, fingerprint=fingerprint)


def test_the_document_has_it_as_values_and_every_operator_s_class():
    profile = profiled(Operator("work", cost=Cost(cpu_ms=0.3)), Operator("ask", cost=Cost(cpu_ms=0.005, wait_ms=5)))
    document = profile_document(told(profile))
    assert document["best"]["bound"]["by"] == "waiting"
    assert document["best"]["bound"]["element"] == "ask"
    operators = document["features"]["operators"]
    assert {name: each["class"] for name, each in operators.items()} == {"in": None, "work": "cpu", "ask": "sojourn"}
    assert operators["ask"]["time"]["waiting"] > 0.9
    assert document["best"]["state_rows"] == {}
    assert "CPU-bound: work (works 9" in classes_in_words(told(profile))
    assert "sojourn-bound: ask (waits 100%)" in classes_in_words(told(profile))


def with_state(rows: tuple[float, float]) -> SearchResult:
    """A profile of one round, whose operator kept so many rows of state in its first and last window."""
    topology = Topology.chain("job", Source("in"), Operator("count", stateful=True, key="word"))
    seen = outcome({"in": 1, "count": 1}, [100.0, 100.0], action=Action.START)
    windows = tuple(
        replace(window, operators={"count": OperatorWindow(1, 1.0, 1.0, 1.0, 1.0, 1.0, state_rows=count)})
        for window, count in zip(seen.measurement.windows, rows, strict=True)
    )
    only = replace(seen, measurement=replace(seen.measurement, windows=windows))
    platform = Platform(slots=8, cores=2)
    context = SearchContext(topology, slots=8, cores=2)
    return SearchResult(topology, context, platform, 0, "stepwise", (only,), only, only)


def test_state_is_that_of_the_last_window_and_said_to_have_been_empty():
    profile = with_state((10, 1234))
    assert state_rows(profile.answer) == {"count": 1234}
    assert state_in_words(told(profile)).startswith("count 1,234 rows at the end; it was empty")
    assert parts_of(start_of(profile.rounds), ["count"]) == {}, "a function of DataFrames has no class"


def test_prefilled_state_says_whether_the_keys_were_there():
    assert state_in_words(told(with_state((5000, 6000)), "5000")).endswith("5,000 keys were loaded first")
    missed = state_in_words(told(with_state((4000, 6000)), "5000"))
    assert "count did not reach the 5,000 keys" in missed
