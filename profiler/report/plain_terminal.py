"""A console that shows control characters instead of sending them: what it prints may come from somebody else's file.

A name or a warning of an imported run could else move the cursor, hide lines, or set the terminal's title.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

_ORDERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""All control characters but tabs and line ends; the second range is what some terminals take for ESC and a letter."""


class PlainConsole(Console):
    """Print text as text; only the console's own styles and movements are orders to the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield what is printed."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control or not _ORDERS.search(text) else Segment(without_orders(text), style)


def without_orders(text: str) -> str:
    """Return a text with every control character written out."""
    return _ORDERS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
