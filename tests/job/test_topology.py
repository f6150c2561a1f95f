"""A topology checks itself when it is built; every contradiction names the element and the way out."""

import pytest

from profiler import Batches, Cost, Operator, Output, Source, Topology
from profiler.errors import TopologyError


def build(*operators: Operator, sources: list[Source] | None = None) -> Topology:
    return Topology("job", sources=sources or [Source("s")], operators=list(operators))


def read(**stated: object) -> Operator:
    return Operator("o", inputs=["s"], **stated)  # type: ignore[arg-type]


CONTRADICTIONS = {
    "cycle": (
        lambda: build(Operator("a", inputs=["s", "b"]), Operator("b", inputs=["a"])),
        "The operators form a cycle: a → b → a.",
    ),
    "own input": (lambda: build(Operator("a", inputs=["s", "a"])), "The operators form a cycle: a → a."),
    "unknown input": (
        lambda: build(Operator("parse", inputs=["s"]), Operator("b", inputs=["prase"])),
        "Operator 'b' reads from 'prase', which does not exist. Did you mean 'parse'?",
    ),
    "duplicate name": (lambda: build(read(), read()), "Two elements of 'job' are called 'o'."),
    "operator named as a source": (lambda: build(Operator("s", inputs=["s"])), "Two elements of 'job' are called 's'."),
    "empty name": (lambda: build(Operator(" ", inputs=["s"])), "Operator number 2 of 'job' has an empty name."),
    "empty source name": (lambda: build(read(), sources=[Source("")]), "Source number 1 of 'job' has an empty name."),
    "empty topology name": (lambda: Topology("", [Source("s")], [read()]), "A topology has an empty name."),
    "no source": (lambda: Topology("job", [], [read()]), "The topology has no source."),
    "no operator": (lambda: Topology("job", [Source("s")], []), "The topology has no operator."),
    "no input": (lambda: build(Operator("a")), "Operator 'a' has no input, so no source reaches it."),
    "unreached": (
        lambda: build(read(), Operator("a", inputs=["b"]), Operator("b", inputs=[])),
        "Operator 'b' has no input, so no source reaches it.",
    ),
    "input named twice": (lambda: build(Operator("a", inputs=["s", "s"])), "Operator 'a' names an input twice."),
    "unread source": (lambda: build(read(), sources=[Source("s"), Source("t")]), "Source 't' is read by no operator."),
    "no cost at all": (lambda: build(read(cost=Cost())), "Operator 'o' has a Cost of neither CPU nor waiting time."),
    "negative cost": (lambda: build(read(cost=Cost(cpu_ms=-1))), "Operator 'o' has the impossible cost cpu_ms=-1."),
    "negative wait": (
        lambda: build(read(cost=Cost(cpu_ms=2, wait_ms=-1))),
        "Operator 'o' has the impossible cost wait_ms=-1.",
    ),
    "cost that is no number": (
        lambda: build(read(cost=Cost(cpu_ms=float("nan")))),
        "Operator 'o' has the impossible cost cpu_ms=nan.",
    ),
    "source without cost": (
        lambda: build(read(), sources=[Source("s", cost=Cost())]),
        "Source 's' has a Cost of neither CPU nor waiting time.",
    ),
    "zero selectivity": (lambda: build(read(selectivity=0)), "Operator 'o' has selectivity=0."),
    "negative selectivity": (lambda: build(read(selectivity=-0.5)), "Operator 'o' has selectivity=-0.5."),
    "zero tasks": (lambda: build(read(tasks=0)), "Operator 'o' has tasks=0."),
    "half a task": (lambda: build(read(min_tasks=1.5)), "Operator 'o' has min_tasks=1.5."),
    "bounds the wrong way round": (
        lambda: build(read(min_tasks=4, max_tasks=2)),
        "Operator 'o' has min_tasks=4 above max_tasks=2.",
    ),
    "today outside the bounds": (
        lambda: build(read(tasks=9, max_tasks=8)),
        "Operator 'o' runs 9 tasks today, outside min_tasks=1 and max_tasks=8.",
    ),
    "not parallel with two tasks": (
        lambda: build(read(parallel=False, tasks=2)),
        "Operator 'o' is parallel=False but asks for more than one task.",
    ),
    "source bounds": (
        lambda: build(read(), sources=[Source("s", min_tasks=3, max_tasks=2)]),
        "Source 's' has min_tasks=3 above max_tasks=2.",
    ),
    "unknown output": (lambda: build(read(output="random")), "Operator 'o' has output='random'."),
    "unknown batches": (lambda: build(read(batches="rows")), "Operator 'o' has batches='rows'."),
    "hot key above all": (lambda: build(read(hot_key_share=1.5)), "Operator 'o' has hot_key_share=1.5."),
    "emits nothing": (lambda: build(read(emits_per_s=0)), "Operator 'o' has emits_per_s=0."),
    "pulls nothing": (lambda: build(read(), sources=[Source("s", pull_per_s=0)]), "Source 's' has pull_per_s=0."),
    "shares above all": (
        lambda: build(Operator("o", inputs=["s", "t"]), sources=[Source("s", share=0.7), Source("t", share=0.7)]),
        "The sources' shares add up to 1.4.",
    ),
    "shares that leave nothing": (
        lambda: build(Operator("o", inputs=["s", "t"]), sources=[Source("s", share=1.0), Source("t")]),
        "The stated shares leave nothing for the other sources.",
    ),
    "lambda in a chain": (
        lambda: Topology.chain("job", Source("s"), lambda rows: rows),
        "Step 1 of chain 'job' has no name.",
    ),
}


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_a_contradiction_is_refused_by_name(case: str) -> None:
    construct, sentence = CONTRADICTIONS[case]
    with pytest.raises(TopologyError) as error:
        construct()
    assert str(error.value).startswith(sentence)
    assert error.value.hint
    assert error.value.exit_code == 2


def test_operators_come_in_downstream_order_whatever_their_declaration() -> None:
    topology = build(Operator("c", inputs=["b"]), Operator("b", inputs=["a"]), Operator("a", inputs=["s"]))
    assert topology.names == ("s", "a", "b", "c")
    assert topology.edges == (("s", "a"), ("a", "b"), ("b", "c"))


def test_fan_out_and_fan_in_are_told_by_the_inputs() -> None:
    topology = build(Operator("a", inputs=["s"]), Operator("b", inputs=["s"]), Operator("meet", inputs=["a", "b"]))
    assert topology.successors("s") == ("a", "b")
    assert topology["meet"].inputs == ("a", "b")


def test_a_chain_joins_functions_by_their_names() -> None:
    def split(rows: object) -> object:
        return rows

    topology = Topology.chain("job", Source("s"), split, Operator("count", stateful=True, key="word"))
    assert topology.edges == (("s", "split"), ("split", "count"))
    assert topology["split"].function is split


def test_one_input_may_be_a_plain_name_and_choices_plain_words() -> None:
    operator = build(Operator("o", inputs="s", output="logic", batches="arrow")).operators[0]
    assert (operator.inputs, operator.output, operator.batches) == (("s",), Output.LOGIC, Batches.ARROW)


def test_today_is_known_only_where_tasks_are_stated() -> None:
    assert build(read()).today is None
    assert build(read(tasks=3)).today == {"s": 1, "o": 3}


def test_sources_share_what_is_left_evenly() -> None:
    sources = [Source("s", share=0.5), Source("t"), Source("u")]
    topology = build(Operator("o", inputs=["s", "t", "u"]), sources=sources)
    assert topology.source_shares == {"s": 0.5, "t": 0.25, "u": 0.25}
