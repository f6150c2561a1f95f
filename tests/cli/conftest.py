"""What the tests of the command line share: a current directory of their own and a way to call `profile`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import profiler
from profiler.cli.app import app

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
