"""Draw a topology's DAG with characters, one line per element and lines for the edges between them.

Every open edge has a lane (a column of two characters). An element is drawn in the leftmost lane that leads to it;
the lanes of a fan-in join in the line before it, those of a fan-out part in the line after it. Edges that are Kafka
topics are dotted:

    ○      events
    ├┄┬┄╮
    ● ┊ ┊  compute
    ┊ ● ┊  ask
    ┊ ┊ ●  look-up
    ├┄┴┄╯
    ●      meet
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from profiler.job.topology import Source, Topology

Edge = tuple[str, str]

_LEFT, _INNER_IN, _INNER_OUT, _LAST_IN, _LAST_OUT = "├", "┴", "┬", "╯", "╮"
_DOWN, _ACROSS = "│", "─"
_TOPIC_DOWN, _TOPIC_ACROSS = "┊", "┄"


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """One line of the drawing; `element` is empty where it holds edges only."""

    picture: str
    element: str = ""
    below: str = ""
    """The lanes right under an element, for text that goes on in a second line."""


def draw(topology: Topology, topics: Collection[Edge] = (), order: Sequence[str] = ()) -> tuple[DrawnLine, ...]:
    """Draw the DAG from its sources down; all pictures are padded to the same width.

    `topics` are the edges to be dotted, `order` the elements from upstream to downstream where the topology's own order
    is not the one to draw.
    """
    drawing = _Drawing(topology, frozenset(topics))
    for name in order or topology.names:
        drawing.add(name)
    width = max(len(line.picture) for line in drawing.lines)
    return tuple(DrawnLine(line.picture.ljust(width), line.element, line.below.ljust(width)) for line in drawing.lines)


class _Drawing:
    """The lines so far, and the edges that are open at their end."""

    def __init__(self, topology: Topology, topics: frozenset[Edge]) -> None:
        self.lines: list[DrawnLine] = []
        self._topology = topology
        self._topics = topics
        self._lanes: list[Edge | None] = []  # None is a free lane
        self._before = ""

    def add(self, name: str) -> None:
        """Draw the next element, with the joint before it and the one after it."""
        element, lanes = self._topology[name], self._lanes
        incoming = [index for index, edge in enumerate(lanes) if edge is not None and edge[1] == name]
        if len(incoming) > 1:
            self.lines.append(DrawnLine(self._joint(incoming, _INNER_IN, _LAST_IN)))
        elif self._before in element.inputs and self.lines[-1].element:
            self.lines.append(DrawnLine(self._row({})))
        for index in incoming:
            lanes[index] = None
        own = incoming[0] if incoming else self._free()
        picture = self._row({own: "○" if isinstance(element, Source) else "●"})
        outgoing = self._open(name, own, self._topology.successors(name))
        self.lines.append(DrawnLine(picture, name, self._row(dict.fromkeys(outgoing[1:], " "))))
        if len(outgoing) > 1:
            self.lines.append(DrawnLine(self._joint(outgoing, _INNER_OUT, _LAST_OUT)))
        self._before = name

    def _free(self, after: int = -1) -> int:
        """Return the first free lane behind another one, a new one where all are taken."""
        for index in range(after + 1, len(self._lanes)):
            if self._lanes[index] is None:
                return index
        self._lanes.append(None)
        return len(self._lanes) - 1

    def _open(self, name: str, own: int, targets: Iterable[str]) -> list[int]:
        """Give every outgoing edge a lane, the first the element's own."""
        opened: list[int] = []
        for target in targets:
            index = self._free(own) if opened else own
            self._lanes[index] = (name, target)
            opened.append(index)
        return opened

    def _joint(self, joined: list[int], inner: str, last: str) -> str:
        """Draw lanes that join or part; a lane that is only crossed stays a plain line."""
        symbols = dict.fromkeys(joined, inner)
        symbols[joined[0]], symbols[joined[-1]] = _LEFT, last
        across = _TOPIC_ACROSS if self._lanes[joined[0]] in self._topics else _ACROSS
        return self._row(symbols, bridge=(joined[0], joined[-1]), across=across)

    def _row(self, symbols: dict[int, str], bridge: tuple[int, int] = (0, 0), across: str = _ACROSS) -> str:
        start, end = bridge
        picture = ""
        for index, edge in enumerate(self._lanes):
            inside = start <= index < end
            down = _TOPIC_DOWN if edge in self._topics else _DOWN
            lane = down if edge is not None else across if inside and index > start else " "
            picture += symbols.get(index, lane) + (across if inside else " ")
        return picture.rstrip()
