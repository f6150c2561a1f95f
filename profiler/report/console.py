"""The two streams: results on stdout, everything else on stderr; colours only on a terminal and without NO_COLOR."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

_NARROWEST = 40
"""Columns; with fewer, as some tools set them where they know no width, nothing could be read."""


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
    from profiler.report.plain_terminal import PlainConsole

    columns = os.environ.get("COLUMNS", "")
    narrow = columns.isdigit() and int(columns) < _NARROWEST
    # Rich takes COLUMNS=0 at its word, and prints nothing at all.
    width = max(_NARROWEST, shutil.get_terminal_size().columns) if narrow else None
    # Lines are never folded: a file or a pipe has no width, and a drawing must stay whole.
    return PlainConsole(file=stream, width=width, soft_wrap=True, highlight=False, markup=False, emoji=False)
