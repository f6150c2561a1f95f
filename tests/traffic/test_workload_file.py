"""A workload file is read once by a command, whatever is asked of it."""

from __future__ import annotations

import gzip
import hashlib
import os
from pathlib import Path

import pytest

from profiler import Operator, Source, Topology
from profiler.errors import UsageError
from profiler.history.fingerprint.digests import data_digests
from profiler.settings.declarations import Settings
from profiler.settings.user_payloads import payload_samples
from profiler.traffic.workload_file import sample_file, sha256_of_file

LINES = b"".join(b'{"number": %d}\n' % number for number in range(100_000))
"""Several times what is read at once."""


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_the_checksum_is_that_of_the_file_as_it_lies_there(tmp_path: Path, packed: bool) -> None:
    """It is what other programs would say of it."""
    path = tmp_path / "lines.jsonl"
    path.write_bytes(gzip.compress(LINES) if packed else LINES)
    assert sha256_of_file(path) == hashlib.sha256(path.read_bytes()).hexdigest()
    assert sample_file(path).messages == 100_000


def changed_unseen(path: Path, content: bytes) -> None:
    """Change a file in a way that only those notice who read it."""
    before = path.stat()
    assert len(content) == before.st_size
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_command_reads_a_file_once_for_all_its_questions(tmp_path: Path) -> None:
    """The sample that is told, the one of the fingerprint and the digest of a gate come from one reading."""
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b"one\ntwo\n")
    topology = Topology.chain("words", Source("lines", payloads=str(path)), Operator("keep", lambda rows: rows))
    asked = Settings(payloads=(str(path),))
    told = payload_samples(topology, asked)
    changed_unseen(path, b"a\nb\nc\nd\n")
    assert payload_samples(topology, asked) == told == {"lines": sample_file(path)}
    assert hashlib.sha256(b"one\ntwo\n").hexdigest().startswith(data_digests(topology)["lines"])


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    """What was found before is not what is sent now."""
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b"one\ntwo\n")
    assert sample_file(path).messages == 2
    path.write_bytes(b"one\ntwo\nthree\n")
    assert sample_file(path).messages == 3
    assert sha256_of_file(path) == hashlib.sha256(b"one\ntwo\nthree\n").hexdigest()


def test_a_file_that_cannot_be_replayed_has_a_checksum_all_the_same(tmp_path: Path) -> None:
    """Who has to send it refuses it, each time; who only has to know it again does not."""
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b'fine\n{"key": 5, "value": "x"}\n')
    for _ in range(2):
        with pytest.raises(UsageError, match="Line 2"):
            sample_file(path)
    assert sha256_of_file(path) == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """As by whoever would send it."""
    with pytest.raises(UsageError, match="gone"):
        sample_file(tmp_path / "gone.jsonl")
