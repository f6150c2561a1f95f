"""A DAG is drawn with one line per element and lines for its edges."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from profiler.shipped.diamond import diamond
from profiler.shipped.star import star

from profiler import Operator, Source, Topology
from profiler.questions.check.drawing import draw


def picture(topology: Topology) -> list[str]:
    return [f"{line.picture} {line.element}".rstrip() for line in draw(topology)]


def test_a_chain_is_a_line() -> None:
    topology = Topology.chain("c", Source("s"), Operator("a"), Operator("b"))
    assert picture(topology) == ["○ s", "│", "● a", "│", "● b"]


def test_a_fan_out_parts_and_a_fan_in_joins() -> None:
    assert picture(diamond()) == [
        "○       events",
        "├─┬─┬─╮",
        "● │ │ │ compute",
        "│ ● │ │ parse",
        "│ │ ● │ ask",
        "│ │ │ ● look-up",
        "├─┴─┴─╯",
        "●       meet",
    ]


def test_several_sources_stand_side_by_side() -> None:
    assert picture(star()) == ["○   left", "│ ○ right", "├─╯", "●   hub", "├─╮", "● │ store", "  ● publish"]


def test_an_edge_that_passes_others_stays_a_plain_line() -> None:
    operators = [
        Operator("a", inputs=["s"]),
        Operator("b", inputs=["s"]),
        Operator("c", inputs=["a", "s"]),
        Operator("d", inputs=["b", "c"]),
    ]
    assert picture(Topology("t", [Source("s")], operators)) == [
        "○     s",
        "├─┬─╮",
        "● │ │ a",
        "│ ● │ b",
        "├─│─╯",
        "● │   c",
        "├─╯",
        "●     d",
    ]


def test_topics_are_dotted() -> None:
    """Inside a query the lines are plain; a lane that is crossed keeps its own."""
    operators = [
        Operator("a", inputs=["s"]),
        Operator("b", inputs=["a"]),
        Operator("c", inputs=["a"]),
        Operator("d", inputs=["c"]),
    ]
    drawn = draw(Topology("t", [Source("s")], operators), topics={("a", "b"), ("a", "c")}, order=("s", *"abcd"))
    assert [f"{line.picture} {line.element}".rstrip() for line in drawn] == [
        "○   s",
        "│",
        "●   a",
        "├┄╮",
        "● ┊ b",
        "  ● c",
        "  │",
        "  ● d",
    ]


def test_the_lanes_below_an_element_are_known() -> None:
    """Text beside an element may need a second line; a fan-out parts only after it."""
    below = {line.element: line.below.rstrip() for line in draw(diamond()) if line.element}
    assert below == {
        "events": "│",
        "compute": "│ │ │ │",
        "parse": "│ │ │ │",
        "ask": "│ │ │ │",
        "look-up": "│ │ │ │",
        "meet": "",
    }


@st.composite
def dags(draw_from: st.DrawFn) -> Topology:
    names = [f"o{number}" for number in range(draw_from(st.integers(1, 12)))]
    operators = []
    for index, name in enumerate(names):
        candidates = ["s", *names[:index]]
        operators.append(
            Operator(name, inputs=draw_from(st.lists(st.sampled_from(candidates), min_size=1, unique=True)))
        )
    if all("s" not in operator.inputs for operator in operators):
        raise AssertionError("the first operator has only the source to read from")
    return Topology("t", [Source("s")], operators)


@given(dags())
def test_every_edge_can_be_followed_in_the_drawing(topology: Topology) -> None:
    """Read the picture back, lane by lane, and find exactly the edges of the topology."""
    assert sorted(edges_of(topology)) == sorted(topology.edges)


def edges_of(topology: Topology) -> list[tuple[str, str]]:
    """Follow the lanes downwards: a lane carries the element whose row leaves it."""
    found: list[tuple[str, str]] = []
    carried: dict[int, list[str]] = {}
    for line in draw(topology):
        cells = {index: symbol for index, symbol in enumerate(line.picture) if index % 2 == 0 and symbol not in " ─"}
        if line.element:
            own = next(index for index, symbol in cells.items() if symbol in "○●")
            found += [(before, line.element) for before in carried.pop(own, [])]
            carried[own] = [line.element]
        elif "├" in line.picture:
            first = line.picture.index("├")
            if any(symbol in cells.values() for symbol in "╯"):
                joined = [index for index, symbol in cells.items() if symbol in "┴╯"]
                carried[first] = [*carried[first], *(name for index in joined for name in carried.pop(index))]
            else:
                for index, symbol in cells.items():
                    if symbol in "┬╮":
                        carried[index] = list(carried[first])
        kept = {index for index, symbol in cells.items() if symbol != " "}
        carried = {index: names for index, names in carried.items() if index in kept}
    return found
