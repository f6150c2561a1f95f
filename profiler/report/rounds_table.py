"""Rounds of a search as a table: what was tried, what was found, what was decided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from profiler.experiment.rounds import Round
from profiler.report.words import change

_DECISION = 24
"""The least width that a decision is readable in; with less it stands below its round."""
_APART = 3
"""Blanks between two columns."""
_COLUMNS = ("#", "action", "tasks", "rows/s", "against")


@dataclass(frozen=True, slots=True)
class RoundsTable:
    """A table whose rows have their decisions at their ends, or below them where the terminal is narrow."""

    rounds: Sequence[Round]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay the rounds out in the width that there is."""
        rows = [_row(each) for each in self.rounds]
        needed = sum(width + _APART for width in _widths([_COLUMNS, *rows]))
        if options.max_width - needed >= _DECISION:
            yield self._beside(rows)
        else:
            yield from self._below(rows, with_tasks=needed - _APART <= options.max_width)

    def _beside(self, rows: Iterable[tuple[str, ...]]) -> Table:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for heading in _COLUMNS:
            table.add_column(heading, justify="left" if heading in ("action", "tasks") else "right", no_wrap=True)
        table.add_column("decision")
        for row, each in zip(rows, self.rounds, strict=True):
            table.add_row(*row, _decision(each))
        return table

    def _below(self, rows: Iterable[tuple[str, ...]], *, with_tasks: bool) -> RenderResult:
        """Put decisions below their rows, and the tasks with them where they have no room in the row."""
        lines = [row if with_tasks else (*row[:2], *row[3:]) for row in (_COLUMNS, *rows)]
        widths = _widths(lines)
        yield Text(_aligned(lines[0], widths), "bold")
        for line, each in zip(lines[1:], self.rounds, strict=True):
            below = Text(no_wrap=False, overflow="fold")
            if not with_tasks:
                below.append(f"{each.configuration}  ".replace(",", ", "), "dim")
            yield Text(_aligned(line, widths))
            yield Padding(below.append_text(_decision(each)), (0, 0, 0, widths[0] + _APART))


def _widths(lines: Iterable[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*lines, strict=True)]


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    """Write cells under their headings: first the number, then the text, last the two figures."""
    cells = [
        cell.ljust(width) if 0 < column < len(line) - 2 else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(line, widths, strict=True))
    ]
    return (" " * _APART).join(cells)


def _row(measured: Round) -> tuple[str, ...]:
    return (
        str(measured.number),
        str(measured.trial.action),
        str(measured.configuration),
        f"{measured.throughput_per_s:,.0f}",
        _against(measured),
    )


def _against(measured: Round) -> str:
    if measured.comparison is None:
        return "—"
    return f"#{measured.trial.against} {change(measured.comparison.effect)}"


def _decision(measured: Round) -> Text:
    decision = measured.decision
    if decision is None:
        return Text("…", "dim")
    mark, style = ("✓", "green") if decision.accepted else ("✗", "dim")
    return Text(f"{mark} {decision.why}", style)
