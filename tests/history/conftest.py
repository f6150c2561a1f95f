"""A real mongod for the tests of the store: one for all that only need a database, own ones for those that kill it."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pymongo
import pytest

from profiler.services.mongod import find_mongod
from profiler.services.ports import LOOPBACK, free_ports

READY_WITHIN_S = 60.0


class OwnMongod:
    """A mongod that a test may kill and start again; its data and its port stay."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.port = free_ports(1)[0]
        self.uri = f"mongodb://{LOOPBACK}:{self.port}"
        self._command = [
            *(str(find_mongod().executable), "--dbpath", str(folder), "--port", str(self.port)),
            *("--bind_ip", LOOPBACK, "--nounixsocket", "--wiredTigerCacheSizeGB", "0.25", *options),
        ]
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start it and wait until it answers."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with pymongo.MongoClient[dict[str, Any]](
            self.uri, serverSelectionTimeoutMS=int(READY_WITHIN_S * 1000)
        ) as client:
            client.admin.command("ping")

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End it, the hard way unless told otherwise."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait()
            self._process = None


@pytest.fixture(scope="session")
def mongod(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnMongod]:
    """One mongod that all tests share and none harms."""
    server = OwnMongod(tmp_path_factory.mktemp("mongod"))
    yield server
    server.kill(signal.SIGTERM)


@pytest.fixture
def mongo_uri(mongod: OwnMongod) -> str:
    """Name a database that no other test has."""
    return f"{mongod.uri}/t{uuid.uuid4().hex}"


@pytest.fixture
def own_mongod(tmp_path: Path) -> Iterator[Callable[..., OwnMongod]]:
    """Start servers for this test alone."""
    servers: list[OwnMongod] = []

    def start(*options: str) -> OwnMongod:
        folder = tmp_path / f"mongod-{len(servers)}"
        folder.mkdir()
        servers.append(OwnMongod(folder, *options))
        return servers[-1]

    yield start
    for server in servers:
        server.kill()


@pytest.fixture
def wait_until() -> Callable[[Callable[[], bool]], None]:
    """Wait for something that another thread does; fail where it does not happen."""

    def wait(happened: Callable[[], bool]) -> None:
        deadline = time.monotonic() + READY_WITHIN_S
        while not happened():
            assert time.monotonic() < deadline, "it did not happen"
            threading.Event().wait(0.01)

    return wait
