"""One row of figures under their names, in as many lines as the width of the terminal asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

_APART = 3
"""Blanks between two columns."""


@dataclass(frozen=True, slots=True)
class WideRow:
    """Figures and their names; a name is never cut, and none is left out."""

    figures: Sequence[tuple[str, Text]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Begin another pair of lines where the next name has no room."""
        for part in self._parts(options.max_width):
            table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
            for name, _ in part:
                table.add_column(name, justify="right", overflow="fold", style="bold" if name == "slots" else "")
            table.add_row(*(figure for _, figure in part))
            yield table

    def _parts(self, width: int) -> Iterator[list[tuple[str, Text]]]:
        part: list[tuple[str, Text]] = []
        used = 0
        for name, figure in self.figures:
            needed = max(len(name), len(figure)) + _APART
            if part and used + needed - _APART > width:
                yield part
                part, used = [], 0
            part.append((name, figure))
            used += needed
        yield part
