"""The cut of a topology into queries, topics and stages."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_scenarios import topologies

from profiler import Operator, Source, Topology
from profiler.engines.spark.layout.chains import Chain, Stage, check_slots, cut, extra_slots, layout
from profiler.errors import ProfileError
from profiler.job.configuration import Configuration


def same(rows):
    return rows


def runnable(topology: Topology) -> Topology:
    """Give every operator a function."""
    operators = [replace(operator, function=same) for operator in topology.operators]
    return Topology(topology.name, topology.sources, operators)


def linear(*stateful: bool) -> Topology:
    """A source and operators o1, o2, …, stateful where told."""
    operators = [Operator(f"o{number}", same, stateful=state) for number, state in enumerate(stateful, 1)]
    return Topology.chain("linear", Source("in"), *operators)


def diamond(**meeting: object) -> Topology:
    return Topology(
        "diamond",
        [Source("in")],
        [
            Operator("a", same, inputs=["in"]),
            Operator("b", same, inputs=["a"]),
            Operator("c", same, inputs=["a"]),
            Operator("d", same, inputs=["b", "c"], **meeting),
        ],
    )


def tasks(topology: Topology, *counts: int) -> Configuration:
    return Configuration.of(dict(zip(topology.names, counts, strict=True)))


configured = (
    topologies()
    .map(runnable)
    .flatmap(
        lambda topology: st.tuples(
            st.just(topology),
            st.lists(st.integers(1, 4), min_size=len(topology.names), max_size=len(topology.names)).map(
                lambda counts: tasks(topology, *counts)
            ),
        )
    )
)


def test_a_linear_topology_is_one_query():
    """One producer, one consumer: nothing is cut."""
    assert cut(linear(False, False, True)) == (Chain(("in",), ("o1", "o2", "o3"), ()),)


def test_fan_out_and_fan_in_are_cut():
    """A feeds B and C through their inboxes, and both write to the one of D."""
    assert cut(diamond()) == (
        Chain(("in",), ("a",), ("b", "c")),
        Chain((), ("b",), ("d",)),
        Chain((), ("c",), ("d",)),
        Chain((), ("d",), ()),
    )


def test_a_union_of_sources_is_read_within_the_query():
    """Distinct sources need no topic between."""
    topology = Topology("two", [Source("x"), Source("y")], [Operator("meet", same, inputs=["x", "y"])])
    assert cut(topology) == (Chain(("x", "y"), ("meet",), ()),)
    (query,) = layout(topology, tasks(topology, 2, 1, 4)).queries
    assert query.stages == (Stage(("x", "y"), 3), Stage(("meet",), 4))


def test_a_source_with_two_readers_passes_its_rows_on():
    """It is read once, by its own tasks, and needs no slot twice."""
    topology = Topology(
        "star", [Source("in")], [Operator("a", same, inputs=["in"]), Operator("b", same, inputs=["in"])]
    )
    assert cut(topology)[0] == Chain(("in",), (), ("a", "b"))
    assert layout(topology, tasks(topology, 2, 3, 4)).slots == 9


def test_a_second_stateful_operator_starts_a_chain_before_its_predecessor():
    """The stateless one between them reads the inbox in its own tasks, so no slot is lost."""
    topology = linear(True, False, False, True)
    assert [chain.operators for chain in cut(topology)] == [("o1", "o2"), ("o3", "o4")]
    assert extra_slots(topology) == 0


def test_two_stateful_operators_in_a_row_cost_a_task_that_reads():
    """The tasks of the second are fed by a shuffle, so something else must read its inbox."""
    topology = linear(True, True)
    assert [chain.operators for chain in cut(topology)] == [("o1",), ("o2",)]
    assert extra_slots(topology) == 1
    deployed = layout(topology, tasks(topology, 1, 2, 3))
    assert deployed.queries[1].stages == (Stage((), 1), Stage(("o2",), 3))
    assert (deployed.queries[1].inbox_partitions, deployed.queries[1].shuffle_partitions) == (1, 3)
    assert deployed.slots == 7


def test_one_task_each_makes_a_stage_vanish():
    """After a repartition to one task the aggregation into one needs no shuffle."""
    topology = linear(False, True)
    joined = layout(topology, tasks(topology, 1, 1, 1))
    assert joined.queries[0].stages == (Stage(("in",), 1), Stage(("o1", "o2"), 1))
    assert joined.slots == 2
    assert joined.shared_stages == (Stage(("o1", "o2"), 1),)
    apart = layout(topology, tasks(topology, 1, 1, 1), apart=True)
    assert apart.slots == 3
    assert not apart.shared_stages


@pytest.mark.parametrize("counts", [(1, 2, 1), (1, 1, 2), (2, 2, 2)])
def test_a_stage_vanishes_only_between_single_tasks(counts):
    """Two tasks on either side need the shuffle."""
    topology = linear(False, True)
    assert layout(topology, tasks(topology, *counts)).slots == sum(counts)


def test_an_aggregation_right_after_a_source_keeps_its_stage():
    """A topic of one partition is not known to Spark as a single one."""
    topology = linear(True)
    assert layout(topology, tasks(topology, 1, 1)).slots == 2


def test_today_s_job_runs_stateless_operators_in_their_producer_s_tasks():
    """Fused as written: a stage for the source and one for the aggregation."""
    topology = linear(False, False, True, False)
    (query,) = layout(topology, tasks(topology, 2, 5, 5, 3, 5), fused=True).queries
    assert query.stages == (Stage(("in", "o1", "o2"), 2), Stage(("o3", "o4"), 3))


def test_an_inbox_has_as_many_partitions_as_its_first_operator_has_tasks():
    """So that operator needs no shuffle."""
    topology = diamond()
    queries = layout(topology, tasks(topology, 2, 1, 3, 4, 5)).queries
    assert [query.inbox_partitions for query in queries] == [0, 3, 4, 5]
    assert [query.stages for query in queries][1:] == [(Stage((n,), t),) for n, t in (("b", 3), ("c", 4), ("d", 5))]


def test_too_few_slots_are_refused_with_the_numbers():
    """Before anything starts, with what each stage needs."""
    topology = diamond(stateful=True)
    deployed = layout(topology, tasks(topology, 2, 1, 3, 4, 5))
    with pytest.raises(ProfileError, match=r"needs 16 slots, there are 15 \(in 2, a 1, b 3, c 4, reading d 1, d 5\)"):
        check_slots(deployed, 15)
    check_slots(deployed, 16)


@pytest.mark.parametrize(
    ("operator", "message"),
    [
        (Operator("x"), "has no function"),
        (Operator("x", same, batches="arrow"), "states no schema"),
        (Operator("x", same, batches="arrow", schema="a int", stateful=True), "keeps no state"),
    ],
)
def test_an_operator_that_spark_cannot_run_is_named(operator, message):
    """The simulated engine may run it; Spark says why it cannot."""
    with pytest.raises(ProfileError, match=f"Operator 'x' .*{message}"):
        cut(Topology.chain("bad", Source("in"), operator))


def test_a_configuration_must_name_every_element():
    """A missing one is told, not guessed."""
    with pytest.raises(ProfileError, match="nothing of o1"):
        layout(linear(False), Configuration.of({"in": 1}))


@given(configured)
def test_every_element_is_in_one_chain(given_one):
    """Nothing is lost or doubled by the cut, and no query has two stateful operators."""
    topology, _ = given_one
    chains = cut(topology)
    assert sorted(name for chain in chains for name in chain.elements) == sorted(topology.names)
    for chain in chains:
        assert sum(topology[name].stateful for name in chain.operators) <= 1


@given(configured)
def test_every_edge_is_inside_a_chain_or_an_inbox(given_one):
    """Rows find their way along every edge, and no other; producers come before their consumers."""
    topology, _ = given_one
    chains = cut(topology)
    inside = {edge for chain in chains for edge in zip(chain.operators, chain.operators[1:], strict=False)}
    inside |= {(source, chain.operators[0]) for chain in chains for source in chain.sources if chain.operators}
    between = {(chain.last, consumer) for chain in chains for consumer in chain.consumers}
    assert inside | between == set(topology.edges)
    assert not inside & between
    order = [chain.name for chain in chains]
    assert all(order.index(chain.name) < order.index(name) for chain in chains for name in chain.consumers)


@given(configured)
def test_the_cut_costs_no_slot_but_the_readers(given_one):
    """Every task needs one slot; a policy that counts tasks is never surprised by more than `extra_slots`."""
    topology, configuration = given_one
    apart = layout(topology, configuration, apart=True)
    assert apart.slots == configuration.slots + extra_slots(topology)
    joined = layout(topology, configuration)
    vanished = sum(len(stage.elements) - 1 for stage in joined.shared_stages if stage.elements[0] in topology)
    unions = sum(len(query.chain.sources) - 1 for query in joined.queries if len(query.chain.sources) > 1)
    assert joined.slots == apart.slots - (vanished - unions)


@given(configured)
def test_stages_hold_the_elements_in_order(given_one):
    """With or without extra shuffles, every element runs in one stage of its chain."""
    topology, configuration = given_one
    for fused in (False, True):
        for query in layout(topology, configuration, fused=fused).queries:
            assert tuple(name for stage in query.stages for name in stage.elements) == query.chain.elements
