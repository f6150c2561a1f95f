"""Hold a server on a leash: start it, and end it as soon as nobody is left who needs it.

Run as a script by `child.py`, with the standard library only, so that it is there in a moment and takes little memory
(scripts/benches/results/engine.md). Two leashes:

- `--parent PID`: the starter holds the write end of the pipe at standard input. It closes when the starter ends,
  however it ends. A forked copy of the starter could keep it open, so the parent's id is watched too.
- `--users FILE`: every user holds a shared lock on the file; when this process can lock it exclusively, nobody is left.
  The lock is kept until the server is gone, so that a new user waits for the end instead of meeting a dying server.

The supervisor and the server have a session of their own: neither Ctrl-C nor a closed terminal reaches them. Where the
supervisor itself is killed, Linux kills the server (PR_SET_PDEATHSIG; its caveat, that it fires when the *thread* that
forked ends, does not matter in a process of one thread).
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from types import FrameType

POLL_S = 0.25
PR_SET_PDEATHSIG = 1
SIGNAL_BASE = 128
"""A process that a signal ended is reported as 128 + signal, as shells do."""


def parent_leash(parent: int) -> Callable[[float], bool]:
    """Give a function that waits up to some seconds and tells whether the parent is gone."""

    def is_broken(wait_s: float) -> bool:
        readable, _, _ = select.select([0], [], [], wait_s)
        return (bool(readable) and not os.read(0, 1)) or os.getppid() != parent

    return is_broken


def users_leash(path: str) -> Callable[[float], bool]:
    """Give a function that waits some seconds and tells whether the last user is gone; then no new one is let in."""
    users = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def is_broken(wait_s: float) -> bool:
        time.sleep(wait_s)
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    return is_broken


def detach() -> None:
    """Leave the starter's family: a shared server belongs to all its users, and init collects it."""
    if os.fork():
        os._exit(0)


def start(command: list[str]) -> subprocess.Popen[bytes]:
    """Start the server in a session of its own, its output going to our standard error: the log file."""
    supervisor = os.getpid()
    library = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None

    def die_with_supervisor() -> None:
        if library is not None:
            library.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != supervisor:
            os._exit(1)

    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=2,
        stderr=2,
        start_new_session=True,
        preexec_fn=die_with_supervisor,  # noqa: PLW1509 - one thread: nothing can hold a lock across the fork
    )


def stop(server: subprocess.Popen[bytes], wait_s: float, terminate_s: float) -> None:
    """End the server in stages of bounded length: wait, terminate, kill; then whatever it left in its group."""
    for limit_s, signal_number in ((wait_s, signal.SIGTERM), (terminate_s, signal.SIGKILL)):
        try:
            server.wait(limit_s)
            break
        except subprocess.TimeoutExpired:
            signal_group(server, signal_number)
    server.wait()
    signal_group(server, signal.SIGKILL)


def signal_group(server: subprocess.Popen[bytes], signal_number: int) -> None:
    """Signal the server's process group, which has its process id, if any of it is left."""
    try:
        os.killpg(server.pid, signal_number)
    except (ProcessLookupError, PermissionError):  # macOS says the latter of a group of zombies
        return


def tell_starter(line: str) -> None:
    """Send the one line the starter waits for, and leave nothing open that it could wait for."""
    with contextlib.suppress(BrokenPipeError):  # the starter is gone already: the leash will tell
        os.write(1, f"{line}\n".encode())
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)


def main() -> int:
    """Supervise one server; return its exit code."""
    parser = argparse.ArgumentParser(description="Hold a server on a leash.")
    leash = parser.add_mutually_exclusive_group(required=True)
    leash.add_argument("--parent", type=int)
    leash.add_argument("--users")
    parser.add_argument("--wait", type=float, default=0.0)
    parser.add_argument("--terminate", type=float, default=10.0)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    asked_to_end = False

    def end(_signal: int, _frame: FrameType | None) -> None:
        nonlocal asked_to_end
        asked_to_end = True

    # Handlers, not SIG_IGN: a server would inherit what is ignored.
    signal.signal(signal.SIGTERM, end)
    for harmless in (signal.SIGINT, signal.SIGHUP):
        signal.signal(harmless, lambda _signal, _frame: None)

    if options.users is not None:
        detach()
        is_broken = users_leash(options.users)
    else:
        is_broken = parent_leash(options.parent)
    try:
        server = start(options.command)
    except OSError as error:
        tell_starter(f"failed {error}")
        return 1
    tell_starter(f"started {server.pid} {os.getpid()}")
    while server.poll() is None and not asked_to_end and not is_broken(POLL_S):
        pass
    stop(server, options.wait, options.terminate)
    return server.returncode if server.returncode >= 0 else SIGNAL_BASE - server.returncode


if __name__ == "__main__":
    sys.exit(main())
