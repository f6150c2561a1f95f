"""A workload file as a command looks at it before it is sent: what its messages are like, and its checksum.

Several parts of a command ask for either, and a file may have hundreds of megabytes: it is read once for all of them,
and again only where it has changed since.
"""

from __future__ import annotations

import functools
import hashlib
import io
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from profiler.errors import UsageError
from profiler.traffic.generator.payloads import read_payloads
from profiler.traffic.payload_sample import SAMPLED, PayloadSample, sample_of

_AT_ONCE = 2**20
"""Bytes that are read, and added to the checksum, at once."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What one reading of a file found."""

    sample: PayloadSample
    sha256: str


def sample_file(path: Path) -> PayloadSample:
    """Give the statistics of a sample of a workload file; raise UsageError where it holds no replayable messages."""
    return _seen(path, *_version(path)).sample


def sha256_of_file(path: Path) -> str:
    """Give the checksum of a workload file as it lies there, replayable or not."""
    try:
        return _seen(path, *_version(path)).sha256
    except UsageError:  # it was read as far as it is good
        with path.open("rb") as whole:
            return hashlib.file_digest(whole, "sha256").hexdigest()


class _Summed(io.FileIO):
    """A file that adds what is read of it to a checksum."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.sha256 = hashlib.sha256()

    def readinto(self, buffer: Any, /) -> int:
        count = super().readinto(buffer) or 0
        self.sha256.update(memoryview(buffer)[:count])
        return count


@functools.cache
def _seen(path: Path, size: int, changed_ns: int) -> _Seen:  # noqa: ARG001 - they tell versions of the file apart
    files: list[_Summed] = []

    def opened(path: Path) -> io.BufferedReader:
        files.append(_Summed(path))
        return io.BufferedReader(files[-1], _AT_ONCE)

    messages = read_payloads(path, opened=opened).messages
    sample = sample_of(messages[:: math.ceil(len(messages) / SAMPLED)], len(messages))
    return _Seen(sample, files[-1].sha256.hexdigest())


def _version(path: Path) -> tuple[int, int]:
    """Tell versions of a file apart; one that is not there is told of when it is read."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns
