"""Keep what a profile measures while it measures: a listener that writes to a store and survives the store's death.

The measurement must not wait for a database, so a thread of its own writes; between them is a queue. Between rounds,
and between the blocks of a gate, nothing is measured: there the keeper waits, for a bounded time, until they are
written. Where the store fails, or falls so far behind that the queue is full, records go to a file at once: even a
killed profile then loses nothing. The thread tries to get the store back all along; once it is back, the file's records
are written to it and the file is removed. At the end it is given a bounded time to come back; after that the file
stays, and `close` tells.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from profiler.experiment.events import (
    BlockMeasured,
    BlockStarted,
    Event,
    LoadingStarted,
    RoundDecided,
    RoundMeasured,
    TrialStarted,
    VerificationStarted,
    WindowSeen,
)
from profiler.history.files.lines import read_history
from profiler.history.files.unsaved import UnsavedFile
from profiler.history.records import MeasuredBlock, Record, Result, Run, SeenWindow
from profiler.history.store import Store, write_records
from profiler.report.words import counted

T = TypeVar("T")

LEFT_BEHIND_AFTER_S = 15.0
"""Seconds longer than its patience that a writer may take in the middle of a call; then it is left behind."""


@dataclass(frozen=True, slots=True)
class Patience:
    """The patience with a store that failed."""

    first_retry_s: float = 0.5
    longest_retry_s: float = 10.0
    """The time between tries doubles up to this."""
    at_close_s: float = 20.0
    """Seconds that `close` waits for the store to come back."""
    at_round_s: float = 2.0
    """Seconds that the end of a round or a block waits until it is written."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of the records of a run."""

    file: Path | None = None
    """The file that holds what the store did not take; None where it has all records."""
    lost: int = 0
    """Records that neither the store nor the disk took."""
    reason: str = ""
    """Why the store or the disk did not, in one sentence."""

    def __str__(self) -> str:
        if self.file is None and not self.lost:
            return ""
        lost = f" {counted(self.lost, 'record')} could be saved nowhere." if self.lost else ""
        file = f" What it lacks is in {self.file}: 'profile history import {self.file}' adds it." if self.file else ""
        return f"The history is not complete: {self.reason}{file}{lost}"


class Keeper:
    """Keep one run; use it as a context and as the listener of a profile's events."""

    def __init__(
        self,
        open_store: Callable[[], Store],
        run: Run,
        file: Path,
        *,
        patience: Patience | None = None,
        capacity: int = 10_000,
    ) -> None:
        """Prepare to keep a run.

        `open_store` is called at the start and whenever the store has failed: it may bring a dead server back first.
        """
        self._open_store = open_store
        self._run = run
        self._file = UnsavedFile(file, run)
        self._patience = patience or Patience()
        self._capacity = capacity
        self._queue: queue.SimpleQueue[Record | threading.Event | None] = queue.SimpleQueue()
        """Records; events to set once all before them is written; None at the end."""
        self._writer = threading.Thread(target=self._write_all, name="history", daemon=True)
        self._homeless: queue.SimpleQueue[Record] = queue.SimpleQueue()
        """Records that neither store nor disk took so far."""
        self._disk_reason = ""
        self._store: Store | None = None
        self._reason = ""
        self._retry_s = self._patience.first_retry_s
        self._next_try = 0.0
        self._left_behind = threading.Event()
        self._round: int | None = None
        self._block: int | None = None
        self._last_at = datetime.min.replace(tzinfo=UTC)
        self._kept: Kept | None = None

    def __enter__(self) -> Self:
        """Open the store and make the run known, so that a store that can't be used is told before measuring."""
        store = self._open_store()
        try:
            store.begin_run(self._run)
        except BaseException:
            store.close()
            raise
        self._store = store
        self._writer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __call__(self, event: Event) -> None:
        """Take down what an event tells; wait, a little, only where a round or a block is over."""
        match event:
            case TrialStarted(number) | LoadingStarted(number):
                self._round, self._block = number, None
            case BlockStarted(index):
                self._round, self._block = None, index
            case VerificationStarted():
                self._round, self._block = None, None
            case WindowSeen(phase=phase, configuration=configuration, observation=observation):
                self._keep(SeenWindow(self._moment(), self._round, self._block, phase, configuration, observation))
            case RoundMeasured(measured) | RoundDecided(measured):
                self._keep(measured)
                self._wait_until_written()
            case BlockMeasured(number, block, expected_per_s, loop_s):
                self._keep(MeasuredBlock(self._moment(), number, expected_per_s, loop_s, block))
                self._wait_until_written()

    def keep_result(self, document: Mapping[str, Any]) -> None:
        """Take down the result."""
        self._keep(Result(document))

    def close(self) -> Kept:
        """Write what is left, in bounded time, and tell what became of it; calling it twice is fine."""
        if self._kept is not None:
            return self._kept
        self._queue.put(None)
        self._writer.join(self._patience.at_close_s + LEFT_BEHIND_AFTER_S)
        self._left_behind.set()
        self._save(_records(_taken(self._queue)))
        self._queue.put(None)  # a writer that was left behind has to end some time
        file, lost = self._file.path if self._file.exists() else None, self._homeless.qsize()
        reason = f"{self._reason} {self._disk_reason}".strip()
        self._kept = Kept(file, lost, reason) if file or lost else Kept()
        return self._kept

    def _wait_until_written(self) -> None:
        written = threading.Event()
        self._queue.put(written)
        written.wait(self._patience.at_round_s)

    def _moment(self) -> datetime:
        """Return the time, but never one twice: it tells the windows apart."""
        self._last_at = max(datetime.now(UTC), self._last_at + timedelta(microseconds=1))
        return self._last_at

    def _keep(self, record: Record) -> None:
        if self._queue.qsize() < self._capacity:
            self._queue.put(record)
        else:
            self._reason = self._reason or "the store was too slow."
            self._save([record])

    def _save(self, records: Sequence[Record]) -> None:
        """Put records into the file, or keep hold of them where the disk fails too."""
        if not records:
            return
        try:
            self._file.append(records)
        except OSError as error:
            self._disk_reason = f"{self._file.path} can't be written: {error.strerror}."
            for record in records:
                self._homeless.put(record)

    # From here on the writer's thread.

    def _write_all(self) -> None:
        ended = False
        while not ended:
            taken = self._next()
            self._write(_records(taken))
            for item in taken:
                if isinstance(item, threading.Event):
                    item.set()
            ended = None in taken
        deadline = time.monotonic() + self._patience.at_close_s
        while self._is_behind() and time.monotonic() < deadline and not self._left_behind.is_set():
            self._left_behind.wait(min(self._wait_s(), max(0.0, deadline - time.monotonic())))
            self._catch_up()
        if self._store is not None:
            self._store.close()

    def _next(self) -> list[Record | threading.Event | None]:
        """Wait for what comes next, or for the time of the next try."""
        try:
            first = self._queue.get(timeout=self._wait_s() if self._is_behind() else None)
        except queue.Empty:
            return []
        return [first, *_taken(self._queue)]

    def _write(self, records: list[Record]) -> None:
        if not self._is_behind() and self._store is not None:
            try:
                write_records(self._store, self._run.id, records)
            except Exception as error:  # noqa: BLE001 - whatever it is: the record goes to the file, the thread goes on
                self._failed(error)
            else:
                return
        self._save(records)
        if self._is_behind() and not self._wait_s():
            self._catch_up()

    def _is_behind(self) -> bool:
        return not self._homeless.empty() or self._file.exists()

    def _wait_s(self) -> float:
        return max(0.0, self._next_try - time.monotonic())

    def _catch_up(self) -> None:
        """Get the store back and give it what waits; where that fails, try again later."""
        try:
            if self._store is None:
                self._store = self._open_store()
            if self._left_behind.is_set():
                return
            while self._file.exists():
                size = self._file.size()
                write_records(self._store, self._run.id, read_history(self._file.path).records)
                # It may have grown in between, where the queue is full; then once more, which doubles nothing.
                self._file.remove(size)
            self._write_homeless(self._store)
        except Exception as error:  # noqa: BLE001 - as above
            self._failed(error)
        else:
            self._retry_s = self._patience.first_retry_s

    def _write_homeless(self, store: Store) -> None:
        records = _taken(self._homeless)
        try:
            write_records(store, self._run.id, records)
        except BaseException:
            for record in records:
                self._homeless.put(record)
            raise

    def _failed(self, error: Exception) -> None:
        self._reason = str(error)
        self._next_try = time.monotonic() + self._retry_s
        self._retry_s = min(2 * self._retry_s, self._patience.longest_retry_s)
        if self._store is not None:
            self._store.close()
            self._store = None


def _records(taken: Sequence[Record | threading.Event | None]) -> list[Record]:
    return [item for item in taken if item is not None and not isinstance(item, threading.Event)]


def _taken(records: queue.SimpleQueue[T]) -> list[T]:
    """Take all that is in a queue."""
    taken: list[T] = []
    while True:
        try:
            taken.append(records.get_nowait())
        except queue.Empty:
            return taken
