"""Processes that were just started, or are about to end."""

from __future__ import annotations

import contextlib
import fcntl
import termios
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from profiler.services.processes.child import Child
from profiler.services.processes.marked import MarkedProcess, marked_processes

WITHIN_S = 30.0
_POLL_S = 0.01


def take_terminal() -> None:
    """Make the terminal at standard input this session's own, so that its end is the session's hang-up."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def wait_until_it_shows(process: psutil.Process) -> None:
    """Wait for its command line and environment: on a busy machine a new process has neither for a moment."""
    _wait_until(lambda: process.cmdline() and process.environ(), process)


def supervisor_of(server: psutil.Process) -> psutil.Process:
    """Return the process that started a server, and watches it."""
    supervisor = server.parent()
    assert supervisor is not None
    return supervisor


def wait_for_end(child: Child) -> None:
    """Wait until a server ended, and its supervisor with it."""
    _wait_until(lambda: child.exit_code() is not None, child.title)


def wait_until_it_is_to_be_fetched(process: psutil.Process) -> None:
    """Wait until a process of this one's ended; its exit code is left for who started it."""
    _wait_until(lambda: process.status() == psutil.STATUS_ZOMBIE, process)


def marked_when_they_show(folder: Path, count: int) -> tuple[MarkedProcess, ...]:
    """Wait until so many processes carry the folder's mark, for the same reason; give all that do."""
    _wait_until(lambda: len(marked_processes(folder)) >= count, folder)
    return marked_processes(folder)


def running(folder: Path) -> list[psutil.Process]:
    """Find what carries the mark of the folder; what ends meanwhile is not there any more."""
    found = []
    for each in marked_processes(folder):
        with contextlib.suppress(psutil.NoSuchProcess):
            found.append(psutil.Process(each.pid))
    return found


def killed(folder: Path) -> list[psutil.Process]:
    """Kill what still carries the mark of the folder; give it."""
    left = running(folder)
    for each in left:
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()
    return left


def _wait_until(happened: Callable[[], object], what: object) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not happened():
        assert time.monotonic() < deadline, what
        time.sleep(_POLL_S)
