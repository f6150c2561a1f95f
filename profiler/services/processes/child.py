"""Child processes that end with this one in every case: normal end, error, Ctrl-C, closed terminal, kill -9.

The server is not a child of this process but of a small supervisor (`supervise.py`), which lives in a session of its
own and ends the server in stages when this process closes the pipe between them, or when the kernel does.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from profiler.errors import ProfileError
from profiler.services.processes import supervise
from profiler.services.processes.marked import marked
from profiler.services.run_folder import FULL_BYTES, MAKE_ROOM, FreeBytes, RunFolder, free_bytes

_MARGIN_S = 10.0
"""Seconds longer than its stages that a supervisor may take on a busy machine before it is killed."""
_TAIL_BYTES = 20_000


@dataclass(frozen=True, slots=True)
class Grace:
    """The stages of a shutdown: how long to wait for an end by itself, then for one after SIGTERM; then SIGKILL."""

    wait_s: float = 0.0
    terminate_s: float = 10.0


@dataclass(frozen=True, slots=True)
class Pids:
    """The two processes of a started server."""

    server: int
    supervisor: int


class ServiceDied(ProfileError):  # noqa: N818 - reads as what happened
    """A server that this run started is gone."""


class Child:
    """A server that runs until it is stopped, ends by itself, or this process ends."""

    def __init__(self, title: str, supervisor: subprocess.Popen[str], pid: int, log: Path, grace: Grace) -> None:
        self.title = title
        self.pid = pid
        self.log = log
        self._supervisor = supervisor
        self._grace = grace

    @classmethod
    def start(
        cls,
        name: str,
        command: Sequence[str],
        run: RunFolder,
        *,
        title: str | None = None,
        env: Mapping[str, str] | None = None,
        grace: Grace | None = None,
    ) -> Child:
        """Start `command`, its output going to `logs/<name>.log` of the run; raise where it can't be executed.

        `title` is how messages call it.
        """
        grace, title = grace or Grace(), title or name
        log = run.logs / f"{name}.log"
        supervisor, pids = _start_supervisor(
            title,
            command,
            ["--parent", str(os.getpid())],
            log,
            marked(run.path, owner=os.getpid(), env=env),
            grace,
            inherited=(run.lock_descriptor,),
        )
        return cls(title, supervisor, pids.server, log, grace)

    def exit_code(self) -> int | None:
        """Give the exit code (128 + n after signal n) of a server that ended, None while it runs."""
        return self._supervisor.poll()

    def require_alive(self) -> None:
        """Raise, with the last words of the log, where the server ended by itself."""
        code = self.exit_code()
        if code is not None:
            raise ended(self.title, code, self.log)

    def stop(self) -> None:
        """End the server in stages and wait for it; calling it twice is fine."""
        if self._supervisor.stdin is not None:
            self._supervisor.stdin.close()
        try:
            self._supervisor.wait(self._grace.wait_s + self._grace.terminate_s + _MARGIN_S)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
            self._supervisor.wait()
        if self._supervisor.returncode < 0:  # killed, so it could not end its server: Linux does, others may not
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()


def start_shared(
    title: str, command: Sequence[str], log: Path, users: Path, *, env: Mapping[str, str] | None = None, grace: Grace
) -> Pids:
    """Start a server that lives as long as anybody holds a shared lock on `users`.

    The caller must hold such a lock already. The supervisor leaves this process's family, so all users are equal.
    """
    mark = marked(log.parent, owner=0, env=env)
    supervisor, pids = _start_supervisor(title, command, ["--users", str(users)], log, mark, grace)
    if supervisor.stdin is not None:
        supervisor.stdin.close()
    supervisor.wait()
    return pids


def how_it_ended(code: int) -> str:
    """Put an exit code into words."""
    number = code - supervise.SIGNAL_BASE if code > supervise.SIGNAL_BASE else -code
    if number > 0 and number in {each.value for each in signal.Signals}:
        return f"was killed by {signal.Signals(number).name}"
    return f"ended with exit code {code}"


def ended(title: str, code: int, log: Path) -> ServiceDied:
    """Build the error for a process that ended by itself; one that was killed had no time for last words."""
    how = how_it_ended(code)
    if how.endswith("SIGKILL"):
        return died(title, how, log, words="", hint="Where nobody did that, the system was short of memory.")
    return died(title, how, log)


def died(
    title: str, how: str, log: Path, *, words: str | None = None, hint: str = "", free: FreeBytes = free_bytes
) -> ServiceDied:
    """Build the error for a server that is gone: what happened, its last words, and where to read more."""
    if "No space left on device" in read_tail(log) or free(log.parent) < FULL_BYTES:
        return ServiceDied(f"{title} {how}: the disk of {log.parent} is full.", hint=MAKE_ROOM)
    words = last_words(log) if words is None else words
    return ServiceDied(f"{title} {how}{': ' + words if words else ''}.", hint=f"{hint} Its log is {log}.".strip())


def last_words(log: Path) -> str:
    """Pick the line that tells most from the end of a log: the last one that names an error, else the last one."""
    lines = [line.strip() for line in read_tail(log).splitlines() if line.strip()]
    telling = [line for line in lines if any(word in line for word in ("ERROR", "FATAL", "Exception", "Error:"))]
    telling = [line for line in telling if not line.startswith("at ")]
    return (telling or lines or [""])[-1][:300].rstrip(".")


def read_tail(log: Path, most_bytes: int = _TAIL_BYTES) -> str:
    """Read the end of a log that may be long, or missing."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - most_bytes))
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def _start_supervisor(
    title: str,
    command: Sequence[str],
    leash: Sequence[str],
    log: Path,
    env: Mapping[str, str],
    grace: Grace,
    *,
    inherited: tuple[int, ...] = (),
) -> tuple[subprocess.Popen[str], Pids]:
    # -I and -S: the supervisor must not depend on what the environment or the site adds to Python.
    argv = [sys.executable, "-I", "-S", supervise.__file__, *leash]
    argv += ["--wait", str(grace.wait_s), "--terminate", str(grace.terminate_s), "--", *command]
    try:
        with log.open("ab") as output:
            supervisor = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                cwd=log.parent,
                env=env,
                start_new_session=True,
                pass_fds=inherited,
                text=True,
            )
    except OSError as error:
        raise ProfileError(f"{title} could not be started: {error}.", hint=f"Look at {log.parent}.") from None
    if supervisor.stdout is None:  # pragma: no cover - PIPE was asked for
        raise AssertionError
    with supervisor.stdout:
        answer, _, detail = supervisor.stdout.readline().strip().partition(" ")
    if answer != "started":
        if supervisor.stdin is not None:
            supervisor.stdin.close()
        supervisor.wait()
        reason = detail or last_words(log) or "its supervisor ended"
        raise ProfileError(f"{title} could not be started: {reason}.", hint=f"Its log is {log}.")
    server_pid, supervisor_pid = map(int, detail.split())
    return supervisor, Pids(server_pid, supervisor_pid)
