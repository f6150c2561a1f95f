"""The processes that profiles started, found again by the mark in their environment.

Every child carries MARK with `<owner's process id>@<folder>`; its own children inherit it. So nothing that was started
here can hide, whichever program it runs.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

MARK = "STEPWISE_PROFILE"
_GONE_WITHIN_S = 10.0
"""Seconds within which a killed process is gone; that is at once, unless the kernel is busy with it."""


@dataclass(frozen=True, slots=True)
class MarkedProcess:
    """A running process that a profile started."""

    pid: int
    owner: int
    """The process that started it, 0 where several profiles share it."""
    folder: Path
    """The folder of the process's log."""
    command: str

    def is_left_over(self) -> bool:
        """Tell whether the profile that started it is gone; what several profiles share has no such owner."""
        return self.owner != 0 and not psutil.pid_exists(self.owner)


def marked(folder: Path, *, owner: int, env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Give the environment for a child: `env`, or this process's own, with the mark."""
    return {**(os.environ if env is None else env), MARK: f"{owner}@{folder}"}


def marked_processes(folder: Path | None = None) -> tuple[MarkedProcess, ...]:
    """Find what carries the mark and still runs; only of that folder or below it, where one is given.

    Processes of other users can't be read and are left out.
    """
    found = []
    for process in psutil.process_iter():
        try:
            mark = process.environ().get(MARK, "")
            command = " ".join(process.cmdline())
            is_zombie = process.status() == psutil.STATUS_ZOMBIE
        except (psutil.Error, OSError):
            continue
        owner, _, place = mark.partition("@")
        if not place or is_zombie or process.pid == os.getpid():
            continue
        if folder is None or Path(place).is_relative_to(folder):
            found.append(MarkedProcess(process.pid, int(owner), Path(place), command))
    return tuple(found)


def runs(pid: int) -> bool:
    """Tell whether a process is there and is no zombie."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def children() -> frozenset[int]:
    """Find the processes that this one started itself."""
    return frozenset(each.pid for each in psutil.Process().children())


def end_children(*, but: Collection[int]) -> None:
    """Kill what this process started, except these, with all that it started in turn; wait for the end of it.

    For children whose handle is lost: a new one may carry no mark yet, but is a child from its first moment.
    """
    ended = _suspended([each for each in psutil.Process().children() if each.pid not in but])
    for each in ended:
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()
    psutil.wait_procs(ended, timeout=_GONE_WITHIN_S)


def _suspended(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Stop processes and all below them, from above: who is looked at must not start others meanwhile."""
    stopped, waiting = [], list(processes)
    while waiting:
        each = waiting.pop()
        with contextlib.suppress(psutil.NoSuchProcess):
            each.suspend()
            stopped.append(each)
            waiting += each.children()
    return stopped
