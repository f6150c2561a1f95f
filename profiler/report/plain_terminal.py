"""A console that prints text as text, and tells commands as the user calls them.

Control characters are shown instead of sent: what is printed may come from somebody else's file, and a name or a
warning of an imported run could else move the cursor, hide lines, or set the terminal's title.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from profiler.report.own_name import PROGRAM, own_name, places_of_own_name

_ORDERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""All control characters but tabs and line ends, with what some terminals take for ESC and a letter; and halves of
characters, as paths that are no text have them."""


class PlainConsole(Console):
    """Print text as text; only the console's own styles and movements are orders to the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield what is printed."""
        # All that is printed comes by here as a Text, but for plain strings in the cells of tables.
        shown = _as_called(renderable) if isinstance(renderable, Text) else renderable
        for segment in super().render(shown, options):
            text, style, control = segment
            yield segment if control or not _ORDERS.search(text) else Segment(without_orders(text), style)


def _as_called(text: Text) -> Text:
    """Return a text with its commands as the user calls them, in the styles that it has."""
    told = text.blank_copy()
    for number, part in enumerate(text.divide(places_of_own_name(text.plain))):
        told.append_text(part if number == 0 else Text.assemble(own_name(), part[len(PROGRAM) :]))
    return told


def without_orders(text: str) -> str:
    """Return a text with every control character written out."""
    return _ORDERS.sub(lambda found: ascii(found[0])[1:-1], text)
