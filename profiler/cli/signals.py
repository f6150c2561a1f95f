"""Being asked to end from outside: a closed terminal and SIGTERM are Ctrl-C too.

What was measured is then stored, topics on somebody's broker are deleted, and servers end in their order. Left to
themselves, both signals would end this process at once, and leave all of that undone.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import TextIO


def end_like_ctrl_c() -> None:
    """Let both signals interrupt the command; what the user ignores on purpose (`nohup`) stays ignored."""
    # Looked at now: once it is gone, a terminal is not known as one.
    terminals = [stream.fileno() for stream in (sys.stdout, sys.stderr) if _is_terminal(stream)]

    def interrupt(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            # It comes more than once: from the terminal, and from the shell that ran in it.
            signal.signal(number, lambda _number, _frame: None)
            _write_nowhere(terminals)
        else:
            signal.signal(number, signal.SIG_DFL)  # the second one kills
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, interrupt)


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def _write_nowhere(descriptors: list[int]) -> None:
    """Let go of a terminal that is gone: every line that the ending says would be an error."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in descriptors:
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
