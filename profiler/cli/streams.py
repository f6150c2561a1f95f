"""Standard output and standard error that outlast whoever reads them.

A result takes minutes. Where the reader of its text is gone (`… | head -4`), or was never there (`2>&-`), the command
goes on without that stream: files are written, servers end in their order, and the exit code says what was found.
"""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from typing import Any

_COULD_NOT_RUN = 3


class _LastingFile(io.FileIO):
    """The file of a stream; once it can't be written, all that follows goes nowhere."""

    failure: OSError | None = None

    def write(self, data: Any, /) -> int:
        try:
            while (written := super().write(data)) is None:
                # Another program made it non-blocking, which is no reason to lose a line.
                select.select([], [self], [])
        except OSError as error:
            self.failure = error
            _point_nowhere(self.fileno())
            return len(data)
        return int(written)


class _LastingText(io.TextIOWrapper):
    """A stream that stays open: a job that closes it while it is loaded must not take the result along."""

    def close(self) -> None:
        self.flush()


def make_lasting() -> None:
    """Replace both streams of this process by ones that outlast their readers."""
    sys.stdout = _lasting(sys.stdout, 1)
    sys.stderr = _lasting(sys.stderr, 2)


def settled(code: int) -> int:
    """Return the exit code of a command, after all it said is written; a lost result is said, and is no success.

    A reader that went away by itself has seen all that it wanted.
    """
    sys.stdout.flush()
    failure = getattr(getattr(sys.stdout.buffer, "raw", None), "failure", None)
    if failure is None or failure.errno == errno.EPIPE:
        return code
    sys.stderr.write(f"Error: Standard output can't be written: {failure.strerror}.\n")
    return code or _COULD_NOT_RUN


def _lasting(stream: Any, number: int) -> io.TextIOWrapper:
    if stream is None:
        # It was closed before the start. A file that is opened later must not get its number.
        _point_nowhere(number)
        stream = open(number, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - of a number
    stream.flush()
    return _LastingText(
        io.BufferedWriter(_LastingFile(stream.fileno(), "wb", closefd=False)),
        encoding=stream.encoding,
        # A terminal that cannot show "→" shows "?" instead of an error.
        errors="replace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _point_nowhere(number: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    if nowhere != number:
        os.dup2(nowhere, number)
        os.close(nowhere)
