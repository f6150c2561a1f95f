"""A process that a test run leaves behind is named, and nobody else's is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.left_over import MARK

ROOT = Path(__file__).parents[2]


def look(run):
    return subprocess.run(
        [sys.executable, "-m", "tests.left_over"],
        cwd=ROOT,
        env={**os.environ, MARK: run},
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_carries_the_mark_is_named():
    """Its id and what it is."""
    with subprocess.Popen(["sleep", "1000"], env={**os.environ, MARK: "this-run"}) as sleeper:
        try:
            found = look("this-run")
            assert found.returncode == 1
            assert found.stderr == f"left behind by the tests: {sleeper.pid} sleep 1000\n"
            assert look("another-run").returncode == 0
        finally:
            sleeper.kill()
    assert look("this-run").returncode == 0
