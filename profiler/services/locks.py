"""File locks that cannot outlive their holder: `flock`, released by the kernel when the file is closed everywhere.

A lock is only ever released by closing the file, never by LOCK_UN: a supervisor may have inherited the open file to
hold the lock for as long as its server runs.
"""

from __future__ import annotations

import enum
import fcntl
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

_POLL_S = 0.05


class Mode(enum.Enum):
    """The way in which a lock is held."""

    SHARED = fcntl.LOCK_SH
    EXCLUSIVE = fcntl.LOCK_EX


class HeldLock:
    """A lock that is held until it is closed, or until this process ends."""

    def __init__(self, file_descriptor: int) -> None:
        self.file_descriptor = file_descriptor

    def make_exclusive(self) -> bool:
        """Say whether this is the only holder, and if so keep everybody else out from now on.

        Where it is not, the lock may be lost: `flock` gives up the old mode before it asks for the new one.
        """
        return _try(self.file_descriptor, Mode.EXCLUSIVE)

    def close(self) -> None:
        """Let go; calling it twice is fine."""
        if self.file_descriptor >= 0:
            os.close(self.file_descriptor)
            self.file_descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def hold(path: Path, mode: Mode, *, wait_s: float = 0.0) -> HeldLock | None:
    """Hold the lock at `path`, creating the file; None where others did not let go within `wait_s`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file_descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + wait_s
    try:
        while not _try(file_descriptor, mode):
            if time.monotonic() >= deadline:
                os.close(file_descriptor)
                return None
            time.sleep(_POLL_S)
    except BaseException:
        os.close(file_descriptor)
        raise
    return HeldLock(file_descriptor)


def is_held(path: Path) -> bool:
    """Tell whether anybody holds the lock, in whatever mode."""
    if not path.exists():
        return False
    lock = hold(path, Mode.EXCLUSIVE)
    if lock is None:
        return True
    lock.close()
    return False


def _try(file_descriptor: int, mode: Mode) -> bool:
    try:
        fcntl.flock(file_descriptor, mode.value | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
