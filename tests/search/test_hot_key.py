"""One key with most rows: how many tasks are worth having, and that no policy gives more."""

from __future__ import annotations

import math

import pytest

from profiler import Cost, Operator, Source, Topology
from profiler.engines.simulated import Preset, SimulatedEngine, SimulatedPlatform
from profiler.experiment.observation import Detail, OperatorWindow
from profiler.experiment.rounds import Action
from profiler.experiment.window_plan import WindowPlan
from profiler.questions.search.conclusion import profile_of
from profiler.questions.search.loop import Loop
from profiler.questions.search.policies import POLICIES
from profiler.questions.search.readings.hot_key import BOUND, further_gain, hot_shares, tasks_worth_having
from profiler.questions.search.result import SearchResult
from profiler.questions.search.validity import hot_key_notes, where_it_holds
from tests.scenarios import outcome


def keyed(share: float, **operator: object) -> Topology:
    count = Operator(
        "count", cost=Cost(cpu_ms=0.02, wait_ms=1), stateful=True, key="user", hot_key_share=share, **operator
    )
    return Topology.chain("hot", Source("in"), Operator("parse", cost=Cost(cpu_ms=0.03)), count)


def profiled(
    topology: Topology, policy: str = "stepwise", preset: Preset = Preset.QUIET, seed: int = 1
) -> SearchResult:
    engine = SimulatedEngine(SimulatedPlatform(nodes=1, cores_per_node=8, slots=32), preset, seed=seed)
    return Loop(engine, topology, POLICIES[policy](), design=WindowPlan(blocks=0)).run()


@pytest.mark.parametrize(("share", "tasks"), [(0.5, 4), (0.2, 16), (0.05, 76), (0.8, 1), (1.0, 1)])
def test_tasks_are_worth_having_until_one_key_is_most_of_the_busiest_task(share, tasks):
    """From then on all others together gain a quarter at the most."""
    assert tasks_worth_having(share) == tasks
    busiest = share + (1 - share) / tasks
    assert share / busiest >= BOUND
    assert further_gain(share, tasks) <= 1 / BOUND - 1 + 1e-9
    if tasks > 1:
        assert share / (share + (1 - share) / (tasks - 1)) < BOUND


def test_without_a_hot_key_there_is_no_limit():
    assert math.isinf(tasks_worth_having(0.0))


def test_the_share_of_a_key_follows_from_the_busiest_task_and_the_mean():
    """Four tasks, half of the rows on one key: the busiest does 0.625 of the work, 2.5 times the mean."""
    window = OperatorWindow(4, None, None, busy_s=8.0, cpu_s=0.1, busiest_task_s=5.0)
    past = outcome({"in": 1, "parse": 1, "count": 4}, [100.0], operators={"count": window, "parse": window})
    assert hot_shares(keyed(0.5), [past]) == {"count": pytest.approx(0.5)}


def test_a_counted_key_goes_before_what_tasks_betray():
    """With one task nothing can be seen of it but by counting keys."""
    alone = OperatorWindow(1, 10.0, 10.0, busy_s=2.0, cpu_s=0.1, busiest_task_s=2.0)
    counted = OperatorWindow(1, 10.0, 10.0, busy_s=2.0, cpu_s=0.1, busiest_task_s=2.0, hot_key_share=0.3)
    tasks = {"in": 1, "parse": 1, "count": 1}
    assert hot_shares(keyed(0.5), [outcome(tasks, [100.0], operators={"count": alone})]) == {}
    assert hot_shares(keyed(0.5), [outcome(tasks, [100.0], operators={"count": counted})]) == {"count": 0.3}


def test_half_of_the_rows_on_one_key_is_told_instead_of_giving_tasks():
    """32 slots are free, and yet the keyed operator gets four; without the key it would get nearly all of them."""
    hot, even = profiled(keyed(0.5)), profiled(keyed(0.0))
    assert even.answer.configuration["count"] > 20
    assert max(seen.configuration["count"] for seen in hot.rounds) == 4
    assert len(hot.rounds) == 2, "no round is spent on tasks that cannot help"
    assert "hot key of 'count': one value of 'user' has about 50% of its rows" in where_it_holds(hot)
    assert "25% at the most" in where_it_holds(hot)
    assert hot_key_notes(hot)
    assert not hot_key_notes(even)


def test_a_key_is_told_also_where_it_is_not_the_limit_yet():
    """Half of the rows on one key, but few tasks wanted: who scales the job later should know."""
    cheap = Operator("count", cost=Cost(cpu_ms=0.01), stateful=True, key="user", hot_key_share=0.5)
    topology = Topology.chain("cheap", Source("in"), Operator("parse", cost=Cost(cpu_ms=0.5)), cheap)
    profile = profiled(topology)
    assert "hot key" not in where_it_holds(profile)
    (told,) = hot_key_notes(profile)
    assert "one value of 'user' has about 50% of its rows" in told
    assert "more than 4 tasks are not worth having" in told
    answer = profile_of(profile, run="r", engine="simulated", environment={})
    assert told in answer.warnings_besides("parse")
    assert told not in answer.warnings_besides("count"), "where the key was named as the limit"


@pytest.mark.parametrize("policy", ["threshold", "stela", "ds2", "slots"])
def test_no_policy_gives_more(policy):
    """The bound holds for the baselines too."""
    assert max(seen.configuration["count"] for seen in profiled(keyed(0.5), policy).rounds) <= 4


def test_stated_tasks_go_before_it():
    """Who knows better says min_tasks."""
    assert profiled(keyed(0.5, min_tasks=8)).answer.configuration["count"] == 8


def test_a_mild_skew_costs_next_to_nothing():
    """A twentieth on one key, as words have it: the answer is that of a search without any bound."""
    profile = profiled(keyed(0.05))
    assert profile.answer.configuration["count"] > 20


def test_a_skew_that_cannot_be_counted_is_learnt_from_the_tasks():
    """A hidden one (hostile preset): once tasks betray it, no round gives more than are worth having."""
    topology = keyed(0.0)
    engine = SimulatedEngine(
        SimulatedPlatform(nodes=1, cores_per_node=8, slots=32, hidden_skew=0.9), Preset.QUIET, seed=3
    )
    profile = Loop(engine, topology, POLICIES["stepwise"](), design=WindowPlan(blocks=0)).run()
    first = next(seen for seen in profile.rounds if seen.configuration["count"] > 1)
    share = hot_shares(topology, [first])["count"]
    assert share > 0.2
    later = [seen.configuration["count"] for seen in profile.rounds if seen.number > first.number]
    assert all(tasks <= tasks_worth_having(share) for tasks in later)
    assert "hot key of 'count'" in where_it_holds(profile)


def test_the_simulated_engine_counts_declared_keys_only_with_full_detail():
    """A decision window tells nothing that costs; a hidden skew is never told."""
    topology = keyed(0.3)
    engine = SimulatedEngine(SimulatedPlatform(hidden_skew=0.5), seed=1)
    start = profiled(topology).rounds[0]
    assert start.trial.action is Action.START
    assert start.measurement.operators["count"].hot_key_share == pytest.approx(0.3)
    (light,) = engine.deploy(topology, start.configuration, Detail.LIGHT).observe(100, 1)
    assert light.operators["count"].hot_key_share is None
    (hidden,) = engine.deploy(keyed(0.0), start.configuration, Detail.FULL).observe(100, 1)
    assert hidden.operators["count"].hot_key_share is None
