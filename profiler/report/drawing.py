"""Draw a topology's DAG with characters, one line per element and lines for the edges between them.

Every open edge has a lane (a column of two characters). An element is drawn in the leftmost lane that leads to it;
the lanes of a fan-in join in the line before it, those of a fan-out part in the line after it:

    ○      events
    ├─┬─╮
    ● │ │  compute
    │ ● │  ask
    │ │ ●  look-up
    ├─┴─╯
    ●      meet
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from profiler.topology import Source, Topology

_LEFT, _INNER_IN, _INNER_OUT, _LAST_IN, _LAST_OUT = "├", "┴", "┬", "╯", "╮"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the drawing; `element` is empty where it holds edges only."""

    picture: str
    element: str = ""


def draw(topology: Topology) -> tuple[Line, ...]:
    """Draw the DAG from its sources down; all pictures are padded to the same width."""
    lines: list[Line] = []
    lanes: list[str | None] = []  # per lane the element it leads to; None is a free lane
    before = ""
    for element in topology:
        incoming = [index for index, target in enumerate(lanes) if target == element.name]
        if len(incoming) > 1:
            lines.append(Line(_joint(lanes, incoming, _INNER_IN, _LAST_IN)))
        elif before in element.inputs and lines[-1].element:
            lines.append(Line(_plain(lanes)))
        for index in incoming:
            lanes[index] = None
        own = incoming[0] if incoming else _free(lanes)
        symbol = "○" if isinstance(element, Source) else "●"
        lines.append(Line(_row(lanes, {own: symbol}), element.name))
        outgoing = _open(lanes, own, topology.successors(element.name))
        if len(outgoing) > 1:
            lines.append(Line(_joint(lanes, outgoing, _INNER_OUT, _LAST_OUT)))
        before = element.name
    width = max(len(line.picture) for line in lines)
    return tuple(Line(line.picture.ljust(width), line.element) for line in lines)


def _free(lanes: list[str | None], after: int = -1) -> int:
    """Return the first free lane behind another one, a new one where all are taken."""
    for index in range(after + 1, len(lanes)):
        if lanes[index] is None:
            return index
    lanes.append(None)
    return len(lanes) - 1


def _open(lanes: list[str | None], own: int, targets: Iterable[str]) -> list[int]:
    """Give every outgoing edge a lane, the first the element's own."""
    opened: list[int] = []
    for target in targets:
        index = _free(lanes, own) if opened else own
        lanes[index] = target
        opened.append(index)
    return opened


def _plain(lanes: list[str | None]) -> str:
    return _row(lanes, {})


def _joint(lanes: list[str | None], joined: list[int], inner: str, last: str) -> str:
    """Draw lanes that join or part; a lane that is only crossed stays a plain line."""
    symbols = dict.fromkeys(joined, inner)
    symbols[joined[0]], symbols[joined[-1]] = _LEFT, last
    return _row(lanes, symbols, bridge=(joined[0], joined[-1]))


def _row(lanes: list[str | None], symbols: dict[int, str], bridge: tuple[int, int] = (0, 0)) -> str:
    start, end = bridge
    picture = ""
    for index, target in enumerate(lanes):
        inside = start <= index < end
        lane = "│" if target is not None else "─" if inside and index > start else " "
        picture += symbols.get(index, lane) + ("─" if inside else " ")
    return picture.rstrip()
