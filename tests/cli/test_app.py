"""The command line as a whole: help, exit codes, interruption, colours, tracebacks only when asked for."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import profiler
from profiler import __version__
from profiler.errors import ProfileError
from profiler.settings.declarations import OPTIONS
from profiler.settings.option import Command

ROOT = str(Path(profiler.__file__).parent.parent)


def raising(error: BaseException):
    def run_profile(*_):
        raise error

    return SimpleNamespace(run_profile=run_profile)


@pytest.fixture
def run_does(monkeypatch):
    """Put something else in the place of a profile run."""
    return lambda module: monkeypatch.setitem(sys.modules, "profiler.questions.search.run", module)


def test_help_names_every_command(profile) -> None:
    answer = profile("--help")
    assert answer.exit_code == 0
    assert all(command in answer.stdout for command in ("run", "check", "init", "config"))


def test_without_a_command_the_help_is_shown_as_wrong_usage(profile) -> None:
    answer = profile()
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert "Usage: " in answer.stderr


def test_help_of_run_names_every_setting_with_its_default(profile) -> None:
    shown = " ".join(profile("run", "--help").stdout.split())
    for option in [option for option in OPTIONS if Command.RUN in option.commands]:
        assert f"{option.flag} " in shown
        assert option.is_switch or f"[{option.show(option.default)}]" in shown


def test_help_loads_nothing_heavy(shell, folder: Path) -> None:
    """It must answer at once: neither numerics nor Spark, nor rich, nor pydantic may be imported for it."""
    (folder / "sitecustomize.py").write_text(
        "import atexit, sys\n"
        "heavy = {'numpy', 'scipy', 'pandas', 'pyspark', 'rich', 'pydantic', 'pymongo', 'confluent_kafka'}\n"
        "atexit.register(lambda: print('loaded', sorted(heavy & set(sys.modules)), file=sys.stderr))\n",
        encoding="utf-8",
    )
    for command in ([], ["run"], ["check"], ["gate"], ["compare"], ["recalibrate"]):
        answer = shell(*command, "--help", PYTHONPATH=f"{folder}:{ROOT}")
        assert (answer.returncode, answer.stderr) == (0, "loaded []\n")


def test_the_version_is_told(profile) -> None:
    assert profile("--version").stdout == f"profile {__version__}\n"


def test_an_error_carries_its_exit_code_and_hint(profile, run_does) -> None:
    run_does(raising(ProfileError("The broker died.", hint="Start it again.")))
    answer = profile("run", "linear")
    assert (answer.exit_code, answer.stdout) == (3, "")
    assert answer.stderr == "Error: The broker died. Start it again.\n"


def test_a_run_decides_on_the_exit_code(profile, run_does) -> None:
    run_does(SimpleNamespace(run_profile=lambda *_: 4))
    assert profile("run", "linear").exit_code == 4


def test_run_is_given_the_topology_and_the_settings(profile, run_does) -> None:
    seen = []
    run_does(SimpleNamespace(run_profile=lambda *given: seen.append(given) or 0))
    flags = ["--engine", "simulated", "--latency", "100ms", "--no-confirm", "--export", "md=a", "--export", "csv=b"]
    assert profile("run", "linear?depth=3", *flags).exit_code == 0
    [(topology, settings, reference)] = seen
    assert reference == "linear?depth=3"
    assert topology.names == ("events", "work-1", "work-2")
    assert (settings.engine, settings.latency_ms, settings.confirm) == ("simulated", 100, False)
    assert [str(export) for export in settings.export] == ["md=a", "csv=b"]
    assert settings.origin("confirm") == "flag --confirm"
    assert settings.origin("slots") == "default"


def test_an_interruption_exits_130_without_a_traceback(profile, run_does) -> None:
    run_does(raising(KeyboardInterrupt()))
    answer = profile("run", "linear")
    assert (answer.exit_code, answer.stdout, answer.stderr) == (130, "", "Interrupted.\n")


def test_ctrl_c_in_a_real_process_exits_130(shell, folder: Path) -> None:
    (folder / "job.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n", encoding="utf-8")
    answer = shell("check", "job.py")
    assert (answer.returncode, answer.stderr) == (130, "Interrupted.\n")


def test_a_defect_is_told_as_one(profile, run_does) -> None:
    run_does(raising(RuntimeError("oops")))
    answer = profile("run", "linear")
    assert answer.exit_code == 3
    assert answer.stderr == "Error: Unexpected RuntimeError: oops. This is a defect in profile; --debug shows where.\n"


def test_a_defect_that_cannot_say_what_it_is_is_told_as_one(profile, run_does) -> None:
    """An error of another program asks that program for its text, which may be gone."""

    class RemoteError(Exception):
        def __str__(self) -> str:
            raise ConnectionRefusedError

    run_does(raising(RemoteError()))
    answer = profile("run", "linear")
    assert answer.exit_code == 3
    assert answer.stderr.startswith("Error: Unexpected RemoteError: it can't say why.")


def test_a_full_disk_is_no_defect(profile, run_does) -> None:
    run_does(raising(OSError(errno.ENOSPC, "No space left on device", "out.json")))
    answer = profile("run", "linear")
    assert answer.exit_code == 3
    assert answer.stderr == "Error: The disk is full: No space left on device (out.json). Free some space.\n"


def test_a_traceback_is_shown_only_when_asked_for(profile, folder: Path, monkeypatch) -> None:
    (folder / "job.py").write_text("1 / 0\n", encoding="utf-8")
    assert "Traceback" not in profile("check", "job.py").stderr
    assert "Traceback" in profile("check", "job.py", "--debug").stderr
    monkeypatch.setenv("PROFILE_DEBUG", "1")
    assert "Traceback" in profile("check", "job.py").stderr


def test_colours_need_a_terminal_and_no_no_color(shell) -> None:
    assert "\x1b" not in shell("check", "linaer").stderr
    assert "\x1b" in shell("check", "linaer", FORCE_COLOR="1").stderr
    assert "\x1b[1;31m" not in shell("check", "linaer", FORCE_COLOR="1", NO_COLOR="1").stderr


def test_a_stream_without_unicode_is_no_error(shell) -> None:
    answer = shell("check", "diamond", "--no-spark", PYTHONIOENCODING="ascii")
    assert answer.returncode == 0
    assert "meet" in answer.stdout


def test_a_closed_pipe_is_no_error(folder: Path) -> None:
    """`profile check diamond --no-spark | head -1` must not complain."""
    reader, writer = os.pipe()
    os.close(reader)
    answer = subprocess.run(
        [sys.executable, "-m", "profiler", "check", "diamond", "--no-spark"],
        env={**os.environ, "PYTHONPATH": ROOT},
        stdout=writer,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    os.close(writer)
    assert answer.stderr == ""
