"""The two streams: results on stdout, everything else on stderr; colours only on a terminal and without NO_COLOR."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console


def result_console() -> Console:
    """Return the console for what the user asked for."""
    return _console(sys.stdout)


def error_console() -> Console:
    """Return the console for progress, warnings and errors."""
    return _console(sys.stderr)


def is_read(stream: TextIO) -> bool:
    """Tell whether a stream still has somebody who reads it, as far as is known after a line was written."""
    stream.flush()
    return getattr(getattr(getattr(stream, "buffer", None), "raw", None), "failure", None) is None


def _console(stream: TextIO) -> Console:
    # Rich is imported late: the help must answer without it.
    from rich.console import Console

    # Lines are never folded: a file or a pipe has no width, and a drawing must stay whole.
    return Console(file=stream, soft_wrap=True, highlight=False, markup=False, emoji=False)
