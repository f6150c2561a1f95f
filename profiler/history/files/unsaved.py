"""The file that takes what a database can't take at the moment; `profile history import` reads it."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path

from profiler.history.files.lines import header_line, record_line
from profiler.history.records import Record, Run


def unsaved_folder(cache: Path) -> Path:
    """Name the folder of such files; not in a run's folder, which is cleared away after some runs."""
    return cache / "unsaved"


def unsaved_path(cache: Path, run: str) -> Path:
    """Name the file of a run."""
    return unsaved_folder(cache) / f"{run}.jsonl"


def unsaved_files(cache: Path) -> list[Path]:
    """List the files that wait to be imported."""
    return sorted(unsaved_folder(cache).glob("*.jsonl"))


class UnsavedFile:
    """A file of one run that grows line by line; it is there only while it holds something."""

    def __init__(self, path: Path, run: Run) -> None:
        self.path = path
        self._run = run
        self._lock = threading.Lock()

    def exists(self) -> bool:
        """Tell whether anything waits in it."""
        return self.path.exists()

    def append(self, records: Sequence[Record]) -> None:
        """Add records, all or none; OSError where the disk does not take them."""
        data = "".join(map(record_line, records)).encode()
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                size = os.fstat(descriptor).st_size
                self._write(descriptor, data if size else header_line(self._run).encode() + data, size)
            finally:
                os.close(descriptor)

    def size(self) -> int:
        """Tell its size in bytes, to be handed to `remove`."""
        return self.path.stat().st_size

    def remove(self, size: int) -> bool:
        """Remove the file if it has not grown since it had that size; tell whether it is gone."""
        with self._lock:
            if self.size() != size:
                return False
            self.path.unlink()
            return True

    def _write(self, descriptor: int, data: bytes, size: int) -> None:
        try:
            while data:
                data = data[os.write(descriptor, data) :]
        except OSError:
            # Half a line would spoil the lines after it; and a file without any would look like something that waits.
            if size:
                os.ftruncate(descriptor, size)
            else:
                self.path.unlink()
            raise
