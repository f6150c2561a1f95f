"""Who writes a run: one process at a time, told by a lock that dies with its holder.

    cache/writing/RUN.lock

It is what tells a run that goes on from one that was interrupted. A lock says nothing to other machines that keep their
runs in the same database, so every cache has a name by chance, which its runs carry: their `place`.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from profiler.errors import UsageError
from profiler.services.locks import Mode, hold, is_held
from profiler.services.whole_file import written_whole


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


def place_of(cache: Path) -> str:
    """Return the name of a cache; it gets one the first time that it is asked for."""
    file = cache / "place"
    if not file.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with written_whole(file) as whole:  # of two at once the second one names it
            whole.write(secrets.token_hex(8).encode())
    return file.read_text()


def _lock_of(cache: Path, run: str) -> Path:
    """Name the lock of a run; the name of a run may come from a user, and must not leave the folder."""
    return cache / "writing" / f"{quote(run, safe='')}.lock"
