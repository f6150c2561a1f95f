"""What the tests of the command line share: a current directory of their own and a way to call `profile`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import profiler
from profiler.cli.app import app
from profiler.history.memory import MemoryStore
from profiler.history.session.opening import HistorySession
from profiler.questions import needed_history
from profiler.services.run_folder import cache_directory
from profiler.settings.declarations import Settings
from tests.commands import Command, processes_of

Profile = Callable[..., Result]
Shell = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty directory; neighbours that a topology file imports are not searched for afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


@pytest.fixture
def profile(folder: Path) -> Profile:
    """Call `profile` in this process."""
    return lambda *arguments: CliRunner().invoke(app, list(arguments))


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> MemoryStore:
    """Keep the history of all commands in memory."""
    kept = MemoryStore()

    @contextmanager
    def opened(settings: Settings, note: object) -> Iterator[HistorySession]:
        yield HistorySession(lambda: kept)

    monkeypatch.setattr(needed_history, "opened_history", opened)
    return kept


@pytest.fixture
def shell(folder: Path) -> Shell:
    """Call `profile` as a user does: in a process of its own, without a terminal."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        root = str(Path(profiler.__file__).parent.parent)
        return subprocess.run(
            [sys.executable, "-m", "profiler", *arguments],
            env={**os.environ, "PYTHONPATH": root, **environment},
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=300,
        )

    return run


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Path]:
    """A cache of its own, so that the history is empty, with the jars of the user's; nothing may be left running."""
    own = tmp_path / "cache"
    own.mkdir()
    jars = cache_directory() / "jars"
    jars.mkdir(parents=True, exist_ok=True)
    (own / "jars").symlink_to(jars)
    yield own
    left = processes_of(own)
    for each in left:
        each.kill()
    assert not left


@pytest.fixture
def command(tmp_path: Path, cache: Path) -> Iterator[Callable[..., Command]]:
    """Start `profile` with the real parts, to be watched while it runs."""
    started: list[Command] = []

    def start(*arguments: str, wrapper: tuple[str, ...] = (), **environment: str) -> Command:
        started.append(Command(tmp_path, cache, arguments, wrapper=wrapper, **environment))
        return started[-1]

    yield start
    for each in started:
        each.close()


@pytest.fixture
def small_disk() -> Callable[[Path, int], tuple[str, ...]]:
    """Give what to put before a command, so that to it and to all it starts a folder is a disk of that size.

    It is a file system in memory, mounted in a name space of the command's own: nobody needs to be root, and it is gone
    with the last of its processes.
    """
    enter = ("unshare", "--map-root-user", "--mount")
    if shutil.which("unshare") is None or subprocess.run([*enter, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this system gives no name space to mount a small disk in")

    def mounted(folder: Path, size_bytes: int) -> tuple[str, ...]:
        folder.mkdir()
        mount = f'mount -t tmpfs -o size={size_bytes} tmpfs "$0" && exec "$@"'
        return (*enter, "sh", "-c", mount, str(folder))

    return mounted


@pytest.fixture
def refused() -> Callable[[Result | subprocess.CompletedProcess[str]], str]:
    """Check that an answer is exit code 2 with one line on stderr and nothing else; return the line."""

    def sentence(answer: Result | subprocess.CompletedProcess[str]) -> str:
        if isinstance(answer, Result):
            code, out, err = answer.exit_code, answer.stdout, answer.stderr
        else:
            code, out, err = answer.returncode, answer.stdout, answer.stderr
        assert (code, out) == (2, ""), err
        assert "Traceback" not in err
        assert err.startswith("Error: ")
        assert err.count("\n") == 1
        return err.removeprefix("Error: ").strip()

    return sentence
