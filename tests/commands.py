"""`profile` as a user calls it: a process of its own, what it says, what it stored and what it left behind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil
import pymongo
from pymongo.errors import PyMongoError

import profiler
from profiler.services.mongod import find_mongod
from profiler.services.ports import LOOPBACK, free_ports
from profiler.services.processes import supervise

WITHIN_S = 200.0
"""Longest wait for anything, on a busy machine."""
_POLL_S = 0.1
WAITING_JOB = """
import time
from profiler import Operator, Source, Topology

def wait(batches):
    for batch in batches:
        time.sleep(0.01 * batch.num_rows)
        yield batch

ROWS = "key string, value string, event_time timestamp"
topology = Topology.chain(
    "waiting", Source("lines", payloads="lines.jsonl"), Operator("wait", wait, batches="arrow", schema=ROWS)
)
"""
"""A job for `write_job` whose operator waits 10 ms per row, so that only its own tasks help."""


class Command:
    """A running `profile`; what it writes goes to files, so that it can be read at any time."""

    def __init__(
        self, folder: Path, cache: Path, arguments: Sequence[str], *, wrapper: Sequence[str] = (), **environment: str
    ) -> None:
        self.cache = cache
        number = len(list(folder.glob("*.err")))
        self._out, self._err = folder / f"{number}.out", folder / f"{number}.err"
        root = str(Path(profiler.__file__).parents[1])
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [*wrapper, sys.executable, "-m", "profiler", *arguments],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": root, "PROFILE_CACHE": str(cache), **environment},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    @property
    def out(self) -> str:
        """What it wrote to stdout so far."""
        return self._out.read_text()

    @property
    def err(self) -> str:
        """What it wrote to stderr so far."""
        return self._err.read_text()

    @property
    def error(self) -> str:
        """The one sentence that it ended with: no traceback, and no defect of the profiler."""
        assert "Traceback" not in self.err
        assert "ERROR" not in self.err
        (line,) = [line for line in self.err.splitlines() if line.startswith("Error: ")]
        assert line == self.err.splitlines()[-1]
        assert "defect" not in line
        return line.removeprefix("Error: ")

    def wait_until(self, happened: Callable[[], Any]) -> None:
        """Wait for something that happens while it runs."""
        deadline = time.monotonic() + WITHIN_S
        while not happened():
            assert self.process.poll() is None, f"it ended early: {self.err}"
            assert time.monotonic() < deadline, f"it did not happen: {self.err}"
            time.sleep(_POLL_S)

    def wait_for(self, progress: str) -> None:
        """Wait until it has said something on stderr."""
        self.wait_until(lambda: progress in self.err)

    def wait_for_windows(self, count: int, uri: str | None = None) -> None:
        """Wait until the database, its own unless another is named, holds so many windows."""
        self.wait_until(lambda: len(windows_in(uri or own_uri(self.cache))) >= count)

    def kill(self, word: str) -> None:
        """Kill -9 a server that it started, found by a word of its command line; the supervisor has that word too."""
        (pid,) = [
            each.pid
            for each, command in _commands_of(self.cache)
            if any(word in part for part in command) and supervise.__file__ not in command
        ]
        os.kill(pid, signal.SIGKILL)

    def fill_disk(self, folder: Path) -> None:
        """Fill the disk that it sees at a folder, which may be mounted for it alone."""
        with contextlib.suppress(OSError), Path(f"/proc/{self.process.pid}/root{folder}/filler").open("wb") as filler:
            while True:
                filler.write(bytes(2**20))

    def interrupt(self) -> None:
        """Press Ctrl-C: a terminal tells the whole group, all that the command started and did not set apart."""
        os.killpg(self.process.pid, signal.SIGINT)

    def ended(self) -> int:
        """Wait for its end; give the exit code."""
        return self.process.wait(2 * WITHIN_S)

    def close(self) -> None:
        """End it where a failed test left it running; what it started then ends by itself."""
        self.process.kill()
        self.process.wait()


class GuardedMongod:
    """A mongod that somebody else runs, with one user; it may be killed and started again."""

    def __init__(self, folder: Path, user: str, password: str, role: str) -> None:
        self.address = f"{LOOPBACK}:{free_ports(1)[0]}"
        self._folder = folder
        self._password = f"admin-{password}"
        self.start()
        with self._or_killed():
            with pymongo.MongoClient[dict[str, Any]](f"mongodb://{self.address}") as client:
                # As long as there is no user, one may be made from here.
                client.admin.command("createUser", "admin", pwd=self._password, roles=["root"])
            with pymongo.MongoClient[dict[str, Any]](self.admin_uri) as client:
                client.admin.command("createUser", user, pwd=password, roles=[{"role": role, "db": "history"}])

    @property
    def admin_uri(self) -> str:
        """Where everything may be read."""
        return f"mongodb://admin:{self._password}@{self.address}/history?authSource=admin"

    def start(self) -> None:
        """Start it and wait until it answers."""
        port = self.address.rpartition(":")[2]
        command = [str(find_mongod().executable), "--dbpath", str(self._folder), "--bind_ip", LOOPBACK, "--port", port]
        options = ["--auth", "--nounixsocket", "--wiredTigerCacheSizeGB", "0.25"]
        self._process = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with self._or_killed(), pymongo.MongoClient[dict[str, Any]](f"mongodb://{self.address}") as client:
            client.admin.command("ping")

    def kill(self) -> None:
        """End it the hard way."""
        self._process.kill()
        self._process.wait()

    @contextlib.contextmanager
    def _or_killed(self) -> Iterator[None]:
        """Leave no server that nobody has a handle of, where it does not do what it should."""
        try:
            yield
        except BaseException:
            self.kill()
            raise


def write_job(folder: Path, code: str) -> None:
    """Write a job as job.py, with lines of seven different words for its source to send."""
    (folder / "job.py").write_text(code)
    (folder / "lines.jsonl").write_text("".join(f"line {number % 7}\n" for number in range(1000)))


def processes_of(cache: Path) -> list[psutil.Process]:
    """Find every process in whose environment or command line the cache is named: all that a command started."""
    return [process for process, _ in _commands_of(cache)]


def _commands_of(cache: Path) -> list[tuple[psutil.Process, list[str]]]:
    """Find what a command started, each with its command line as it was then: it may be gone a moment later."""
    found = []
    for each in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            command = each.cmdline()
            words = [*command, *each.environ().values()]
            is_zombie = each.status() == psutil.STATUS_ZOMBIE
            if each.pid != os.getpid() and not is_zombie and any(str(cache) in word for word in words):
                found.append((each, command))
    return found


def own_uri(cache: Path) -> str:
    """Tell where the mongod of a cache answers, or answered last."""
    try:
        return f"mongodb://{LOOPBACK}:{json.loads((cache / 'history' / 'mongod.json').read_text())['port']}"
    except (OSError, ValueError):
        return f"mongodb://{LOOPBACK}:1"


def windows_in(uri: str) -> list[datetime]:
    """Return when the windows were seen that a database holds; none where it does not answer."""
    with pymongo.MongoClient[dict[str, Any]](uri, serverSelectionTimeoutMS=1000) as client:
        try:
            found = client.get_default_database("profile").observations.find({}, ["document.at"])
            return sorted(datetime.fromisoformat(each["document"]["at"]) for each in found)
        except PyMongoError:
            return []


def documents_in(uri: str) -> list[str]:
    """Return all that a database holds of the history, each document as a text."""
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        history = client.get_default_database()
        names = [name for name in history.list_collection_names() if not name.startswith("system.")]
        return [str(document) for name in names for document in history[name].find()]


def files_with(secret: str, *folders: Path) -> list[Path]:
    """Find the files that hold a text: output, logs, and whatever was stored."""
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return [path for path in files if secret.encode() in path.read_bytes()]
