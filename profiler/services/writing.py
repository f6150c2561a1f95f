"""Who writes a run: one process at a time, told by a lock that dies with its holder.

    cache/writing/RUN.lock

It is what tells a run that goes on from one that was interrupted, on one machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from profiler.errors import UsageError
from profiler.services.locks import Mode, hold, is_held


@contextmanager
def only_writer(cache: Path, run: str) -> Iterator[None]:
    """Be the one who writes a run; UsageError where another process is."""
    path = _lock_of(cache, run)
    lock = hold(path, Mode.EXCLUSIVE)
    if lock is None:
        raise UsageError(
            f"Run '{run}' is still being measured by another process.", hint="Let it end, or leave --resume out."
        )
    with lock:
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def is_being_written(cache: Path, run: str) -> bool:
    """Tell whether a process of this machine measures the run at the moment."""
    return is_held(_lock_of(cache, run))


def _lock_of(cache: Path, run: str) -> Path:
    """Name the lock of a run; the name of a run may come from a user, and must not leave the folder."""
    return cache / "writing" / f"{quote(run, safe='')}.lock"
