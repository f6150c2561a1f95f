"""The cache directory, and the folder of one run in it: logs and data that nobody needs afterwards.

    cache/jars/      verified jars
    cache/history/   the database of all profiles; never removed here
    cache/runs/ID/   logs/ (kept for the last runs, errors point there), data/ (removed at the end), alive.lock

A run is alive while its lock is held: by the run itself and by the supervisors of its servers, so a folder is not
removed under a server that is still shutting down. What died without cleaning up is removed at the next start.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from profiler.errors import ProfileError
from profiler.services.locks import HeldLock, Mode, hold
from profiler.services.user_path import user_path

NEEDED_BYTES = 2_000_000_000
"""Bytes that a stressed topic of a few minutes, checkpoints and logs take."""
FULL_BYTES = 20_000_000
"""A disk with less free than this is taken for full: servers stop writing before the last byte."""
MAKE_ROOM = "Free some space, or let PROFILE_CACHE name a directory on another disk."
KEPT_RUNS = 5
"""Ended runs whose logs stay readable."""
_ALIVE = "alive.lock"
_WAIT_FOR_OTHER_RUN_S = 30.0

FreeBytes = Callable[[Path], int]


def cache_directory(env: Mapping[str, str] = os.environ) -> Path:
    """Find the cache directory: PROFILE_CACHE, else `stepwise-profile` in the platform's cache directory."""
    if given := env.get("PROFILE_CACHE"):
        return user_path(given).absolute()
    if given := env.get("XDG_CACHE_HOME"):
        base = Path(given)
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path.home() / ".cache"
    return (base / "stepwise-profile").absolute()


def free_bytes(folder: Path) -> int:
    """Tell how much fits on the disk of the folder, or of its nearest parent that exists."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def require_space(folder: Path, needed_bytes: int = NEEDED_BYTES, *, free: FreeBytes = free_bytes) -> None:
    """Raise where less than `needed_bytes` is free on the folder's disk."""
    available = free(folder)
    if available < needed_bytes:
        message = (
            f"The disk of {folder} has {available / 1e9:.2f} GB free, and a profile needs {needed_bytes / 1e9:.2f} GB."
        )
        raise ProfileError(message, hint=MAKE_ROOM)


class RunFolder:
    """A folder for the logs and the data of one run, alive until it is closed or its process ends."""

    def __init__(self, path: Path, lock: HeldLock) -> None:
        self.path = path
        self.name = path.name
        self.logs = path / "logs"
        self.data = path / "data"
        self.lock = lock
        """The lock that keeps the folder alive; servers of the run share it."""

    @property
    def lock_descriptor(self) -> int:
        """The open lock file; a supervisor inherits it, to keep the folder alive as long as its server."""
        return self.lock.file_descriptor

    def require_room(self, *, free: FreeBytes = free_bytes) -> None:
        """Raise where the disk has become full."""
        if free(self.path) < FULL_BYTES:
            raise ProfileError(f"The disk of {self.path} is full.", hint=MAKE_ROOM)

    def close(self) -> None:
        """Remove the data and keep the logs; calling it twice is fine."""
        shutil.rmtree(self.data, ignore_errors=True)
        self.lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def create_run_folder(
    cache: Path, *, needed_bytes: int = NEEDED_BYTES, free: FreeBytes = free_bytes, now: datetime | None = None
) -> RunFolder:
    """Clear away what dead runs left, check the space, and make a folder for this run."""
    runs = cache / "runs"
    try:
        runs.mkdir(parents=True, exist_ok=True)
        # One at a time: a folder without a held lock is dead, also in the moment between making it and locking it.
        with _only_one(runs):
            _clear_dead(runs)
            require_space(runs, needed_bytes, free=free)
            path = _make(runs, now or datetime.now(UTC))
            lock = hold(path / _ALIVE, Mode.SHARED)
    except OSError as error:
        message = f"The run folder could not be made in {runs}: {error.strerror or error}."
        raise ProfileError(message, hint="Let PROFILE_CACHE name a directory that can be written.") from None
    if lock is None:
        raise ProfileError(f"The run folder {path} is used by another process.", hint="Start again.")
    folder = RunFolder(path, lock)
    folder.logs.mkdir()
    folder.data.mkdir()
    return folder


def _only_one(runs: Path) -> HeldLock:
    lock = hold(runs / "create.lock", Mode.EXCLUSIVE, wait_s=_WAIT_FOR_OTHER_RUN_S)
    if lock is None:
        raise ProfileError(f"Another profile has been starting in {runs} for too long.", hint="Start again.")
    return lock


def _make(runs: Path, now: datetime) -> Path:
    name = f"{now:%Y%m%dT%H%M%S}-{os.getpid()}"
    for number in range(1000):
        path = runs / (f"{name}-{number}" if number else name)
        try:
            path.mkdir()
        except FileExistsError:
            continue
        return path
    raise ProfileError(f"{runs} holds too many folders of this second.", hint=f"Remove {runs}.")


def _clear_dead(runs: Path) -> None:
    """Remove the data of every dead run, and all of those whose logs are no longer among the last ones."""
    dead = []
    for path in sorted((each for each in runs.iterdir() if each.is_dir()), reverse=True):
        lock = hold(path / _ALIVE, Mode.EXCLUSIVE)
        if lock is not None:
            dead.append(path)
            lock.close()
    for position, path in enumerate(dead):
        shutil.rmtree(path / "data" if position < KEPT_RUNS else path, ignore_errors=True)
