"""What `profile check` found, on a terminal: the DAG with its queries and stages, the slots, the doubts."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from profiler.engines.catalogue import Room
from profiler.engines.spark.layout.chains import QueryLayout
from profiler.job.topology import Element, Source, Topology
from profiler.questions.check.drawing import Edge, draw
from profiler.questions.check.findings import Checked

_COLOURS = ("cyan", "magenta", "green", "blue", "yellow")
"""The colours of queries, in turn."""
_LEGEND = "┊ is a Kafka topic between two queries; 2.1 is stage 1 of query 2"
_NARROWEST_NOTES = 16
_INDENT = "  "


def print_checked(console: Console, checked: Checked) -> None:
    """Print the drawing, the queries, the slots and the doubts."""
    topology = checked.topology
    counts = (
        f"{_counted(topology.sources, 'source')}, {_counted(topology.operators, 'operator')}, {depth(topology)} deep"
    )
    console.print(f"{topology.name}: {counts}\n", style="bold")
    # A file or a pipe has no width, so only a terminal's lines are folded.
    width = console.width if console.is_terminal else None
    for line in _drawn(checked, width):
        console.print(line)
    console.print()
    if checked.layout is not None:
        console.print(Padding(_queries(checked), (0, 0, 0, len(_INDENT)), expand=False), soft_wrap=False)
        console.print()
    for sentence in _sentences(checked):
        console.print(_folded(sentence, width))
    for finding in checked.findings:
        console.print(_folded(f"warning: {finding}", width), style="yellow")


def depth(topology: Topology) -> int:
    """Count the elements on the longest path, its source included."""
    deepest: dict[str, int] = {}
    for element in topology:
        deepest[element.name] = 1 + max((deepest[name] for name in element.inputs), default=0)
    return max(deepest.values())


class _Places:
    """The places of the elements: the query and stage of each, counted from 1, and which edges are topics."""

    def __init__(self, queries: tuple[QueryLayout, ...]) -> None:
        self.of: dict[str, tuple[int, int]] = {}
        self.topics: set[Edge] = set()
        for number, query in enumerate(queries, start=1):
            for position, stage in enumerate(query.stages, start=1):
                self.of.update(dict.fromkeys(stage.elements, (number, position)))
            self.topics |= {(query.chain.last, consumer) for consumer in query.chain.consumers}
        self.order = tuple(name for query in queries for name in query.chain.elements)

    def stage(self, name: str) -> str:
        return ".".join(map(str, self.of[name])) if name in self.of else ""

    def style(self, name: str) -> str:
        return f"bold {_COLOURS[(self.of[name][0] - 1) % len(_COLOURS)]}" if name in self.of else "bold"


def _places(checked: Checked) -> _Places:
    return _Places(checked.layout.queries if checked.layout else ())


def _drawn(checked: Checked, width: int | None) -> Iterator[Text]:
    topology, places = checked.topology, _places(checked)
    lines = draw(topology, places.topics, places.order)
    table = _Columns(len(lines[0].picture), checked, places)
    yield Text(table.headings, style="dim")
    for line in lines:
        if not line.element:
            yield Text(f"{_INDENT}{line.picture}".rstrip())
            continue
        notes = _notes(topology[line.element], lost=line.element in checked.event_time_lost_at)
        room = len(notes) + 1 if width is None else max(_NARROWEST_NOTES, width - table.width)
        first, *others = textwrap.wrap(notes, room, break_long_words=False) or [""]
        text = Text(f"{_INDENT}{line.picture}{table.cells(line.element)}{first}")
        text.stylize(places.style(line.element), *table.name_span)
        for position, symbol in enumerate(line.picture, start=len(_INDENT)):
            if symbol in "○●":
                text.stylize(places.style(line.element), position, position + 1)
        text.rstrip()
        yield text
        for other in others:
            yield Text(f"{_INDENT}{line.below}".ljust(table.width) + other)
    if places.topics:
        yield Text(_folded(f"\n{_INDENT}{_LEGEND}", width), style="dim")


class _Columns:
    """What stands between the picture and the notes: name, stage, and what a row costs in milliseconds."""

    _HEADINGS = ("", "stage", "CPU ms", "wait ms")

    def __init__(self, picture_width: int, checked: Checked, places: _Places) -> None:
        self._rows = {
            element.name: (element.name, places.stage(element.name), *_cost(element)) for element in checked.topology
        }
        columns = list(zip(*self._rows.values(), strict=True))
        self._widths = [
            max(len(heading), *map(len, column)) if any(column) else 0
            for heading, column in zip(self._HEADINGS, columns, strict=True)
        ]
        start = len(_INDENT) + picture_width
        self.name_span = (start, start + 2 + self._widths[0])
        self.headings = (" " * start + self._line(self._HEADINGS)).rstrip()
        self.width = start + len(self._line(self._HEADINGS))

    def cells(self, name: str) -> str:
        return self._line(self._rows[name])

    def _line(self, cells: tuple[str, ...]) -> str:
        name, stage, *costs = zip(cells, self._widths, strict=True)
        left = [cell.ljust(width) for cell, width in (name, stage) if width]
        right = [cell.rjust(width) for cell, width in costs if width]
        return "".join(f"  {cell}" for cell in (*left, *right)) + "  "


def _queries(checked: Checked) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim")
    table.add_column("query", justify="right", no_wrap=True)
    table.add_column("reads topic of", overflow="fold")
    table.add_column("runs", overflow="fold")
    for heading in ("stages", "slots", *(("today",) if checked.layout_today else ())):
        table.add_column(heading, justify="right", no_wrap=True)
    queries = checked.layout.queries if checked.layout else ()
    today = checked.layout_today.queries if checked.layout_today else ()
    for number, query in enumerate(queries, start=1):
        chain = query.chain
        producers = [other.chain.last for other in queries if chain.name in other.chain.consumers]
        table.add_row(
            str(number),
            ", ".join(chain.sources or producers),
            " → ".join(", ".join(stage.elements) or "(reader)" for stage in query.stages),
            str(len(query.stages)),
            str(query.slots),
            *(str(each.slots) for each in today[number - 1 : number]),
            style=_COLOURS[(number - 1) % len(_COLOURS)],
        )
    return table


def _sentences(checked: Checked) -> Iterator[str]:
    readers = checked.slots_needed - checked.fewest.slots
    besides = f" and {readers} for reading" if readers else ""
    parts = [f"Slots: {checked.slots_needed} needed at the least, one per task{besides}"]
    if checked.layout_today is not None:
        parts.append(f"{checked.layout_today.slots} for today's tasks")
    if checked.layout is not None:
        parts.append(_given(checked.room))
    if checked.bound is not None:
        parts.append(f"the search may use {checked.bound}")
    yield "; ".join(parts) + "."
    if checked.layout is None:
        return
    if checked.columns is None:
        yield "event_time: not looked at (--no-spark)."
    elif not checked.event_time_lost_at:
        yield "event_time: kept by every operator, so latency is measured to the end."


def _given(room: Room) -> str:
    if room.slots is None:
        return f"{room.master} is not asked for its own"
    return f"{'this machine' if room.by_default else 'the master'} gives {room.slots} ({room.master})"


def _folded(sentence: str, width: int | None) -> str:
    if width is None:
        return sentence
    return "\n".join(textwrap.fill(line, width, subsequent_indent=_INDENT) for line in sentence.splitlines())


def _counted(elements: tuple[Element, ...], noun: str) -> str:
    return f"{len(elements)} {noun}{'s' if len(elements) != 1 else ''}"


def _cost(element: Element) -> tuple[str, str]:
    if element.cost is None:
        return "—", ""
    return f"{element.cost.cpu_ms:g}", f"{element.cost.wait_ms:g}" if element.cost.wait_ms else ""


def _notes(element: Element, *, lost: bool) -> str:
    notes = []
    if isinstance(element, Source):
        notes.append("source")
    else:
        if lost:
            notes.append("drops event_time")
        if element.batches is not None:
            notes.append(f"{element.batches} batches")
        if element.stateful:
            notes.append(f"stateful by {element.key}" if element.key else "stateful")
        if element.output is not None and element.output != "proportional":
            notes.append(f"{element.output} output")
        if element.selectivity not in (None, 1):
            notes.append(f"×{element.selectivity:g} rows")
    return ", ".join([*notes, *_bounds(element)])


def _bounds(element: Element) -> list[str]:
    """Say what is stated of an element's tasks; nothing where the search is free."""
    bounds = []
    if not element.parallel:
        bounds.append("one task")
    elif element.max_tasks is not None:
        bounds.append(f"{element.min_tasks} to {element.max_tasks} tasks")
    elif element.min_tasks > 1:
        bounds.append(f"at least {element.min_tasks} tasks")
    if element.tasks is not None:
        bounds.append(f"{element.tasks} today")
    return bounds
