"""Fixtures for services: a run folder of its own for every test, and the check that nothing is left behind."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from profiler.services.processes.marked import marked_processes
from profiler.services.run_folder import RunFolder, create_run_folder
from tests.services.starting import killed, running

END_WITHIN_S = 60.0


@pytest.fixture
def left(tmp_path: Path) -> Callable[[], list[str]]:
    """Wait until nothing with the mark of this test's folder runs; give the commands of what still does."""

    def wait() -> list[str]:
        psutil.wait_procs(running(tmp_path), timeout=END_WITHIN_S)
        return [each.command for each in marked_processes(tmp_path)]

    return wait


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path) -> Iterator[None]:
    """Fail a test that leaves a process, and end that process."""
    yield
    assert not killed(tmp_path)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunFolder]:
    """A run folder in a cache directory of the test's own."""
    with create_run_folder(tmp_path, needed_bytes=0) as folder:
        yield folder


@pytest.fixture
def parent(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a Python program, to be ended in some bad way, and wait for the first line it prints."""
    programs: list[subprocess.Popen[str]] = []

    def start(source: str, **options: object) -> subprocess.Popen[str]:
        arguments = [sys.executable, "-c", textwrap.dedent(source), str(tmp_path)]
        chosen = {"stdout": subprocess.PIPE, "text": True, "start_new_session": True, **options}
        program: subprocess.Popen[str] = subprocess.Popen(arguments, **chosen)  # type: ignore[call-overload]
        programs.append(program)
        assert program.stdout is not None
        assert program.stdout.readline().strip() == "ready"
        return program

    yield start
    for program in programs:
        program.kill()
        program.wait()
        if program.stdout is not None:
            program.stdout.close()
