"""Being asked to end: a closed terminal and SIGTERM let a command finish what Ctrl-C would."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import profiler
from tests.services.starting import take_terminal

COMMAND = """
import signal
from pathlib import Path
from profiler.cli.signals import end_like_ctrl_c

end_like_ctrl_c()
try:
    Path("ready").touch()
    signal.pause()
except KeyboardInterrupt:
    print("Interrupted.", flush=True)
    signal.raise_signal(signal.SIGHUP)
    Path("stored").touch()
"""


@pytest.fixture
def start(tmp_path):
    """Start a small command, and wait until it listens to signals."""
    started = []

    def run(**more):
        program = subprocess.Popen(
            [sys.executable, "-c", COMMAND],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(Path(profiler.__file__).parents[1])},
            start_new_session=True,
            **{"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, **more},
        )
        started.append(program)
        while not (tmp_path / "ready").exists():
            assert program.poll() is None
        return program

    yield run
    for program in started:
        program.kill()
        program.communicate()


def ignoring_hang_up():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def test_sigterm_is_ctrl_c(start, tmp_path):
    """What `kill` sends; a CI that cancels a job sends it too."""
    program = start(preexec_fn=ignoring_hang_up)
    program.terminate()
    assert program.wait(30) == 0
    assert (tmp_path / "stored").exists()


def test_what_nohup_ignores_stays_ignored(start, tmp_path):
    """The user wants it to go on."""
    program = start(preexec_fn=ignoring_hang_up)
    program.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        program.wait(0.5)
    assert not (tmp_path / "stored").exists()


def test_a_closed_terminal_is_ctrl_c(start, tmp_path):
    """Nobody reads what is said any more, and the second signal of the shell that ends as well does no harm."""
    controller, terminal = pty.openpty()
    try:
        program = start(stdin=terminal, stdout=terminal, preexec_fn=take_terminal)
    finally:
        os.close(terminal)
        os.close(controller)
    assert program.wait(30) == 0
    assert (tmp_path / "stored").exists()
