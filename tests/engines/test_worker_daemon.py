"""The daemon that Spark starts Python workers with: it talks as Spark's own does, and its workers come up warm."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from profiler.engines.spark.workers import profile_worker_daemon

SECRET = "secret"  # noqa: S105 - nobody's


@pytest.fixture
def daemon(tmp_path):
    """Start it as Spark does: by its name, in the user's folder, with the worker's module as its argument."""
    (tmp_path / "profiler.py").write_text("raise AssertionError('of the user')")
    place = Path(profile_worker_daemon.__file__)
    found = {"PYTHONPATH": str(place.parent), "PYTHON_WORKER_FACTORY_SECRET": SECRET, "SPARK_REUSE_WORKER": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", place.stem, "pyspark.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        env={**os.environ, **found},
    )
    yield process
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        pipe.close()


def number(told):
    return struct.unpack("!i", told.read(4))[0]


def test_a_worker_is_forked_with_all_that_it_needs(daemon):
    """The port comes first on standard output, then each connection gets a worker that tells its process."""
    port = number(daemon.stdout)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection, connection.makefile("rb") as told:
        worker = psutil.Process(number(told))
        assert worker.ppid() == daemon.pid
        connection.sendall(struct.pack("!i", len(SECRET)) + SECRET.encode())
        assert told.read(number(told)) == b"ok"
        loaded = {Path(each.path).name.split(".")[0] for each in worker.memory_maps()}
        assert {"libarrow", "_multiarray_umath"} <= loaded
    daemon.stdin.close()
    daemon.wait(30)
    assert psutil.wait_procs([worker], timeout=30)[0]
