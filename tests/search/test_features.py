"""Step 1: minimal latencies, relative sizes, kinds of output, domination and the ratios that follow."""

from __future__ import annotations

import math

import pytest

from profiler.errors import ProfileError
from profiler.experiment.observation import Measurement
from profiler.job.configuration import Configuration
from profiler.job.topology import Operator, Output, Source, Topology
from profiler.questions.search.policies.stepwise.ratios import task_ratios
from profiler.questions.search.readings.features import application_features, dominated_operators
from tests.scenarios import operator_window, window


def measured(calm, stressed=None):
    names = list(calm)
    return Measurement(
        configuration=Configuration.of(dict.fromkeys(names, 1)),
        offered_per_s=1.0,
        windows=(window(operators=stressed or calm),),
        calm=(window(operators=calm),),
    )


def chain(*operators):
    return Topology.chain("job", Source("in"), *operators)


def test_minimal_latency_is_busy_time_per_received_row():
    """Busy seconds over rows received, CPU likewise, sizes relative to all edges."""
    topology = chain(Operator("split"), Operator("count"))
    features = application_features(
        topology,
        measured(
            {
                "in": operator_window(busy_s=0.1, rows_in=100, rows_out=100),
                "split": operator_window(busy_s=0.2, cpu_s=0.1, rows_in=100, rows_out=900),
                "count": operator_window(busy_s=0.9, rows_in=900, rows_out=900),
            }
        ),
    )
    assert math.isclose(features.elements["split"].min_latency_s, 0.002)
    assert math.isclose(features.elements["split"].cpu_s, 0.001)
    assert math.isclose(features.elements["split"].selectivity, 9)
    assert features.relative_sizes == {("in", "split"): 0.1, ("split", "count"): 0.9}
    assert math.isclose(features.load(topology, "count"), 0.001 * 0.9)


def test_costs_that_do_not_depend_on_rows_are_not_costs_of_rows():
    """Polling costs the same for ten rows as for a thousand; contention under stress is no cost of a row either."""
    topology = chain(Operator("ask"), Operator("contended"))

    def seen(rows, **busy_s):
        return {
            name: operator_window(busy_s=busy, cpu_s=busy, rows_in=rows, rows_out=rows) for name, busy in busy_s.items()
        }

    calm, stressed = {"in": 0.1, "ask": 0.1, "contended": 0.01}, {"in": 0.2, "ask": 0.2, "contended": 2.0}
    found = application_features(topology, measured(seen(10, **calm), seen(1000, **stressed))).elements
    of_990_more_rows = pytest.approx(0.1 / 990)
    assert found["ask"].min_latency_s == of_990_more_rows
    assert found["ask"].cpu_s_per_source_row == of_990_more_rows
    assert math.isclose(found["contended"].busy_s_per_source_row, 0.001)
    nearly = application_features(
        topology, measured(seen(10, **calm), seen(1000, **{name: 80 * s for name, s in calm.items()}))
    )
    assert math.isclose(nearly.elements["ask"].min_latency_s, 0.01), "a little less may be luck"


def test_equal_operators_scale_by_one_task_each():
    """The paper's Linear goes (1,1,1,1) → (1,2,2,2): ratios of equal loads are divided to 1."""
    topology = chain(Operator("a"), Operator("b"), Operator("c"))
    seen = {name: operator_window(busy_s=0.3) for name in topology.names}
    ratios = task_ratios(topology, application_features(topology, measured(seen)), 0.3)
    assert ratios.scalable == {"a": 1, "b": 1, "c": 1}


def test_ratios_are_rounded_in_slices():
    """Waits of 2, 8, 4 ms with slice 0.3 give 1 : 3 : 1."""
    topology = chain(Operator("a"), Operator("b"), Operator("c"))
    seen = {"in": operator_window(busy_s=0.01)} | {
        name: operator_window(busy_s=busy) for name, busy in (("a", 0.2), ("b", 0.8), ("c", 0.4))
    }
    ratios = task_ratios(topology, application_features(topology, measured(seen)), 0.3)
    assert ratios.scalable == {"a": 1, "b": 3, "c": 1}


def test_an_output_that_stays_while_the_input_grows_is_logic_dependent():
    """The kind of output is read off two rates where it is not declared."""
    topology = chain(Operator("rank"), Operator("store"))
    calm = {
        "in": operator_window(busy_s=0.1, rows_in=100, rows_out=100),
        "rank": operator_window(busy_s=0.1, rows_in=100, rows_out=10),
        "store": operator_window(busy_s=0.1, rows_in=10, rows_out=10),
    }
    stressed = {
        "in": operator_window(busy_s=0.5, rows_in=500, rows_out=500),
        "rank": operator_window(busy_s=0.5, rows_in=500, rows_out=10.4),
        "store": operator_window(busy_s=0.1, rows_in=10.4, rows_out=10.4),
    }
    features = application_features(topology, measured(calm, stressed))
    assert features.elements["rank"].output is Output.LOGIC
    assert features.elements["store"].output is Output.PROPORTIONAL
    assert features.dominated == {"store"}


def test_an_operator_with_one_free_path_is_not_dominated():
    """Domination needs a logic-dependent operator on every path from a source."""
    topology = Topology(
        "job",
        [Source("in")],
        [
            Operator("rank", inputs=["in"], output="logic"),
            Operator("only", inputs=["rank"]),
            Operator("both", inputs=["rank", "in"]),
            Operator("after", inputs=["only"]),
        ],
    )
    outputs = {"rank": Output.LOGIC, "in": Output.PROPORTIONAL}
    assert dominated_operators(topology, outputs) == {"only", "after"}


def test_non_parallel_operators_bound_the_flow_of_dominated_ones():
    """P of a non-scalable operator is its load times the flow that the non-parallel ones let through."""
    topology = Topology(
        "job",
        [Source("in")],
        [
            Operator("single", inputs=["in"], parallel=False),
            Operator("rank", inputs=["single"], output="logic"),
            Operator("store", inputs=["rank"]),
        ],
    )
    seen = {
        "in": operator_window(busy_s=0.01, rows_in=100, rows_out=100),
        "single": operator_window(busy_s=0.1, rows_in=100, rows_out=100),
        "rank": operator_window(busy_s=0.1, rows_in=100, rows_out=50),
        "store": operator_window(busy_s=0.25, rows_in=50, rows_out=50),
    }
    ratios = task_ratios(topology, application_features(topology, measured(seen)), 0.3)
    assert ratios.fixed == {"single": 1, "store": 3}
    assert ratios.scalable == {"rank": 1}


BRANCH = chain(Operator("filter"), Operator("store"))


def branched(rows_through, of=100):
    """Return what is seen where the filter lets so many rows through to the store."""
    return {
        "in": operator_window(busy_s=0.001 * of, rows_in=of, rows_out=of),
        "filter": operator_window(busy_s=0.002 * of, rows_in=of, rows_out=rows_through),
        "store": operator_window(busy_s=0.01 * rows_through, rows_in=rows_through, rows_out=rows_through),
    }


def test_an_operator_that_the_small_stream_did_not_reach_is_seen_under_stress():
    """A branch for broken rows gets one in a hundred, and of a small stream maybe none."""
    features = application_features(BRANCH, measured(branched(0), branched(10, of=1000)))
    store = features.elements["store"]
    assert features.unreached == ()
    assert math.isclose(store.min_latency_s, 0.01)
    assert math.isclose(store.busy_s_per_source_row, 0.0001)
    assert math.isclose(features.elements["filter"].selectivity, 0.01)
    assert math.isclose(features.relative_sizes[("filter", "store")], 1 / 101)
    assert not features.dominated


def test_an_operator_that_no_row_reached_costs_nothing_and_is_not_scaled():
    """Nobody knows what it costs; the others are profiled all the same."""
    features = application_features(BRANCH, measured(branched(0), branched(0, of=1000)))
    assert features.unreached == ("store",)
    assert features.load(BRANCH, "store") == 0
    assert features.elements["store"].output is Output.PROPORTIONAL
    ratios = task_ratios(BRANCH, features, 0.3)
    assert ratios.scalable == {"filter": 1}
    assert ratios.fixed == {"store": 1}


def test_a_job_that_no_row_reaches_is_an_error():
    """No row, no feature of anything."""
    nothing = operator_window(busy_s=0.0, rows_in=0, rows_out=0)
    with pytest.raises(ProfileError, match="No row reached any operator"):
        application_features(BRANCH, measured({"in": operator_window(busy_s=0.1), "filter": nothing, "store": nothing}))
    with pytest.raises(ProfileError, match="No row reached any operator"):
        application_features(BRANCH, measured({"in": nothing, "filter": nothing, "store": nothing}))
