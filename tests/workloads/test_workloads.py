"""The workloads have the paper's shapes, and the simulated engine finds in them what they are made for."""

from __future__ import annotations

import pytest

from profiler.engines.simulated import SimulatedEngine, SimulatedPlatform
from profiler.engines.spark.layout.chains import cut
from profiler.experiment.window_plan import WindowPlan
from profiler.job.loading import load_topology
from profiler.questions.check.terminal import depth
from profiler.questions.search.loop import Loop
from profiler.questions.search.policies import POLICIES
from profiler.questions.search.readings.features import dominated_operators
from profiler.questions.search.result import SearchResult
from profiler.shipped import WORKLOADS

ON_SPARK = [name for name in WORKLOADS if name != "random-dag"]


def simulated_profile(name: str) -> SearchResult:
    engine = SimulatedEngine(SimulatedPlatform(nodes=1, cores_per_node=8, slots=40), seed=1)
    return Loop(engine, load_topology(name), POLICIES["stepwise"](), design=WindowPlan(blocks=0)).run()


def test_linear_is_as_deep_as_asked_for() -> None:
    assert load_topology("linear").names == ("events", "work-1", "work-2", "work-3")
    assert len(load_topology("linear?depth=12").operators) == 11


def test_diamond_holds_every_kind_of_operator_between_source_and_meeting_point() -> None:
    diamond = load_topology("diamond")
    middle = [diamond[name].cost for name in diamond.successors("events")]
    assert diamond["meet"].inputs == diamond.successors("events")
    assert sum(cost.cpu_ms >= 0.2 for cost in middle) == 1
    assert sum(cost.wait_ms == 5 for cost in middle) == 2


def test_star_has_two_sources_and_two_sinks_around_a_hub() -> None:
    star = load_topology("star")
    assert len(star.sources) == 2
    assert len(star["hub"].inputs) == len(star.successors("hub")) == 2


def test_word_count_is_a_chain_that_ends_in_a_stateful_count() -> None:
    topology = load_topology("word-count")
    assert topology.names == ("tweets", "parse", "split", "count")
    assert topology["count"].stateful
    assert topology["count"].key == "word"
    assert 9 <= topology["split"].selectivity <= 12


def test_synthetic_word_count_waits_before_it_parses() -> None:
    topology = load_topology("synthetic-word-count")
    assert topology.names == ("tweets", "wait", "parse", "split", "count")
    assert topology["wait"].cost.wait_ms == 1
    assert topology["wait"].batches == "arrow"


def test_the_waiting_operator_gets_the_most_tasks() -> None:
    tasks = simulated_profile("synthetic-word-count").answer.configuration.tasks
    assert tasks["wait"] > max(count for name, count in tasks.items() if name != "wait")


def test_the_sojourn_bound_operators_of_the_diamond_get_the_tasks() -> None:
    tasks = dict(simulated_profile("diamond").answer.configuration.tasks)
    waiting = tasks.pop("ask"), tasks.pop("look-up")
    assert min(waiting) > max(tasks.values())


def test_twitter_sentiment_has_eleven_operators_and_is_eight_deep() -> None:
    topology = load_topology("twitter-sentiment")
    assert (len(topology.operators), depth(topology)) == (11, 8)
    assert [chain.operators for chain in cut(topology)] == [
        ("store", "detect"),
        ("english", "sentiment", "average", "mood"),
        ("tags", "count"),
        ("top", "ranking", "publish"),
    ]


def test_what_follows_a_timer_is_dominated_and_not_scaled() -> None:
    topology = load_topology("twitter-sentiment")
    dominated = dominated_operators(topology, {operator.name: operator.output for operator in topology.operators})
    assert dominated == {"ranking", "publish"}
    tasks = simulated_profile("twitter-sentiment").answer.configuration.tasks
    assert {tasks[name] for name in ("top", *dominated)} == {1}
    assert tasks["store"] > 1


@pytest.mark.parametrize("name", ON_SPARK)
def test_every_workload_can_be_cut_into_queries(name: str) -> None:
    """Every operator has Spark code, and is in one of the queries."""
    topology = load_topology(name)
    assert all(operator.function is not None for operator in topology.operators)
    assert sorted(each for chain in cut(topology) for each in chain.operators) == sorted(
        operator.name for operator in topology.operators
    )


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_operator_states_its_cost(name: str) -> None:
    """The simulated engine needs it."""
    assert all(element.cost is not None for element in load_topology(name))
