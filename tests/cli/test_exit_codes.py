"""Exit code 1 means "slower" and nothing else, whatever the user's code, files, directory and streams do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import profiler
from profiler.cli.streams import make_lasting, settled

ROOT = Path(profiler.__file__).parents[1]
JOB = """
from profiler import Cost, Operator, Source, Topology
topology = Topology.chain("job", Source("s"), Operator("o", cost=Cost(cpu_ms=1)))
"""
RAISED = {
    "one of its own": ("class Stop(BaseException): pass\nraise Stop('enough')", "job.py:2: Stop: enough"),
    "a cancelled task": ("import asyncio\nraise asyncio.CancelledError", "job.py:2: CancelledError"),
    "a generator's end": ("raise GeneratorExit('x')", "job.py:1: GeneratorExit: x"),
    "a skipped test": ("import pytest\npytest.skip('no', allow_module_level=True)", "job.py:2: Skipped: no"),
    "an exit": ("raise SystemExit(1)", "job.py:1: SystemExit: 1"),
    "one that can't be told": (
        "class Mute(Exception):\n  def __str__(self): raise KeyError\nraise Mute",
        "job.py:3: Mute: it can't say why",
    ),
}
CONFIGURATIONS = {
    "profile = 5": ("pyproject.toml", "[tool]\nprofile = 5\n", "sets 'tool.profile' to a single value."),
    "profile = 'x'": ("pyproject.toml", "[tool]\nprofile = 'x'\n", "sets 'tool.profile' to a single value."),
    "tool = 5": ("pyproject.toml", "tool = 5\n", "sets 'tool' to a single value."),
    "nested lists": ("profile.toml", f"slots = {'[' * 9999}{']' * 9999}\n", "profile.toml is nested too deeply."),
    "nested tables": ("pyproject.toml", f"x = {'{a=' * 9999}1{'}' * 9999}\n", "pyproject.toml is nested too deeply."),
    "a number too long": ("profile.toml", f"slots = {'9' * 5000}\n", "profile.toml cannot be read: "),
}


@pytest.mark.parametrize("case", RAISED)
def test_whatever_a_job_raises_while_it_is_loaded_is_a_wrong_job(case, profile, refused, folder: Path) -> None:
    code, said = RAISED[case]
    (folder / "job.py").write_text(code, encoding="utf-8")
    assert refused(profile("check", "job.py")).startswith(f"'job.py' cannot be loaded: {said}.")


@pytest.mark.parametrize(
    "closed", ["sys.stderr", "sys.stdout", "sys.__stderr__", "sys.__stdout__"], ids=lambda stream: stream
)
@pytest.mark.parametrize(
    "call", [["check", "--no-spark"], ["run", "--engine", "simulated", "--quick"]], ids=["check", "run"]
)
def test_a_job_that_closes_a_stream_takes_nothing_along(closed, call, shell, folder: Path) -> None:
    (folder / "job.py").write_text(f"import sys\n{closed}.close()\n{JOB}", encoding="utf-8")
    answer = shell(call[0], "job.py", *call[1:])
    assert (answer.returncode, "lost" in answer.stderr) == (0, False), answer.stderr
    assert "job" in answer.stdout


@pytest.mark.parametrize("case", CONFIGURATIONS)
@pytest.mark.parametrize("call", [["config", "show"], ["run", "linear"]], ids="-".join)
def test_a_configuration_that_is_none_is_refused(case, call, profile, refused, folder: Path) -> None:
    name, text, said = CONFIGURATIONS[case]
    (folder / name).write_text(text, encoding="utf-8")
    assert said in refused(profile(*call))


@pytest.mark.parametrize("call", [["check", "linear"], ["run", "linear"], ["config", "show"]], ids="-".join)
def test_a_deleted_directory_is_told(call, profile, refused, folder: Path, monkeypatch) -> None:
    gone = folder / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert refused(profile(*call)) == "The current directory no longer exists. Change to one that does."


@pytest.mark.parametrize(
    "error",
    [SystemExit(1), GeneratorExit(), EOFError("the end"), BrokenPipeError(32, "Broken pipe")],
    ids=lambda error: type(error).__name__,
)
def test_what_breaks_while_it_is_measured_is_no_verdict(error, profile, monkeypatch) -> None:
    def run_profile(*_):
        raise error

    monkeypatch.setitem(sys.modules, "profiler.questions.search.run", SimpleNamespace(run_profile=run_profile))
    answer = profile("run", "linear")
    assert (answer.exit_code, answer.stdout) == (3, "")
    assert answer.stderr.startswith("Error: ")


@pytest.mark.parametrize("found", [0, 1, 4])
def test_a_reader_that_went_away_does_not_change_what_was_found(found, monkeypatch, capsys) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        monkeypatch.setattr(sys, "stderr", sys.__stderr__)
        make_lasting()
        sys.stdout.write("a line that nobody reads\n" * 10_000)
        assert settled(found) == found


@pytest.mark.parametrize(("found", "told"), [(0, 3), (1, 1), (4, 4)])
def test_a_result_that_could_not_be_shown_is_said(found, told, monkeypatch, tmp_path) -> None:
    errors = tmp_path / "errors"
    with Path("/dev/full").open("w") as full, errors.open("w") as said:
        monkeypatch.setattr(sys, "stdout", full)
        monkeypatch.setattr(sys, "stderr", said)
        make_lasting()
        sys.stdout.write("a line")
        assert settled(found) == told
        sys.stderr.flush()
    assert errors.read_text() == "Error: Standard output can't be written: No space left on device.\n"


@pytest.mark.parametrize("streams", ["2>&-", "2>/dev/full", ">&- 2>&-"])
def test_an_error_that_nobody_hears_has_its_exit_code(streams, folder: Path) -> None:
    command = f'exec "$0" -m profiler check nowhere.py {streams}'
    answer = subprocess.run(
        ["sh", "-c", command, sys.executable],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert (answer.returncode, answer.stdout, answer.stderr) == (2, b"", b"")


def test_ctrl_c_is_told_while_modules_are_imported(shell, folder: Path) -> None:
    """A module that each command needs is one that presses it."""
    (folder / "early").mkdir()
    (folder / "early" / "typer.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    answer = shell("check", "diamond", PYTHONPATH=f"{folder / 'early'}:{ROOT}")
    assert (answer.returncode, answer.stdout, answer.stderr) == (130, "", "Interrupted.\n")


def test_next_to_nothing_is_imported_before_ctrl_c_is_told() -> None:
    """What is imported by then would end with a traceback."""
    told = "import sys; before = {*sys.modules}; import profiler.__main__; print(*sorted({*sys.modules} - before))"
    command = [sys.executable, "-S", "-c", told]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300).stdout
    assert said.split() == ["__future__", "profiler", "profiler.__main__"]
