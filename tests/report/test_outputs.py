"""Files of a result: refused before anything is measured where they can't be, and never lost after it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import profiler
from profiler.report.outputs import Outputs
from profiler.settings.choices import Export, ExportKind
from profiler.settings.declarations import Settings

DOCUMENT = {"schema": "profile/1"}
REFUSED = {
    "a folder": (["--json", "folder"], "--json folder can't be written: Is a directory."),
    "a folder to export to": (["--export", "md=folder"], "--export md=folder can't be written: Is a directory."),
    "no folder": (["--json", "no/out.json"], "--json no/out.json can't be written: No such file or directory."),
    "a file as a folder": (["--json", "file/out"], "--json file/out can't be written: Not a directory."),
    "a name too long": (["--json", "n" * 256], "can't be written: File name too long."),
    "one file for two": (
        ["--json", "out", "--export", "md=out"],
        "--json out would replace what --export md=out wrote",
    ),
    "a link for two": (
        ["--json", "link", "--export", "md=file"],
        "--json link would replace what --export md=file wro",
    ),
}


@pytest.mark.parametrize("command", [["run", "linear"], ["gate", "linear", "--aa"]], ids=["run", "gate"])
@pytest.mark.parametrize("case", REFUSED)
def test_a_file_that_can_t_be_is_refused_at_once(case, command, profile, refused, folder: Path) -> None:
    arguments, said = REFUSED[case]
    (folder / "folder").mkdir()
    (folder / "file").touch()
    (folder / "link").symlink_to("file")
    assert said in refused(profile(*command, "--engine", "simulated", *arguments))


@pytest.mark.parametrize("links", [["loop"], ["other", "loop"]], ids=["to itself", "to each other"])
@pytest.mark.parametrize("flag", ["--json", "--export"])
def test_a_circle_of_links_is_refused_at_once(links, flag, profile, refused, folder: Path) -> None:
    for link, target in zip(["loop", *links], [*links, "loop"], strict=False):
        if not (folder / link).is_symlink():
            (folder / link).symlink_to(target)
    named = "loop" if flag == "--json" else "md=loop"
    said = refused(profile("run", "linear", "--engine", "simulated", flag, named))
    assert said.startswith(f"{flag} {named} can't be written: Too many levels of symbolic links.")


JOB = """
from profiler import Cost, Operator, Source, Topology
topology = Topology.chain("job", Source("s"), Operator("o", cost=Cost(cpu_ms=1)))
"""


@pytest.mark.parametrize(
    "call", [["gate", "--blocks", "2", "--against"], ["compare", "--blocks", "2"]], ids=["gate", "compare"]
)
def test_a_path_that_is_no_text_loses_no_result(call, profile, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file has it escaped, in the same way."""
    (folder / "e\udcff").mkdir()
    for file in ("job.py", "e\udcff/job.py"):
        (folder / file).write_text(JOB)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary")
    command, *rest = call
    asked = ["--export", "md=md", "--export", "csv=csv", "--json", "json"]
    more = ["--export", "junit=junit"] if command == "gate" else []
    answer = profile(command, "job.py", *rest, "e\udcff/job.py", "--engine", "simulated", "--quiet", *asked, *more)
    assert answer.exit_code in (0, 1, 4), answer.stderr
    for name in ("md", "json", "summary"):
        assert r"e\udcff" in (folder / name).read_text(), name
    assert all((folder / flag.partition("=")[2]).read_text() for flag in (*asked, *more) if "=" in flag)


def outputs(folder: Path) -> Outputs:
    asked = Settings(json_to=str(folder / "out.json"), export=(Export(ExportKind.MD, str(folder / "out.md")),))
    return Outputs.opened(asked, {ExportKind.JSON: json.dumps, ExportKind.MD: lambda _: "# Result"})


def test_files_are_written_although_the_result_can_t_be_shown(folder: Path) -> None:
    def show() -> None:
        raise BrokenPipeError

    opened = outputs(folder)
    with pytest.raises(BrokenPipeError):
        opened.deliver(DOCUMENT, show)
    assert json.loads((folder / "out.json").read_text()) == DOCUMENT
    assert (folder / "out.md").read_text() == "# Result"


def test_a_file_that_can_t_be_written_whole_is_as_before(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is full by now leaves yesterday's result, and no half of today's."""
    (folder / "out.json").write_text("yesterday's")
    opened = outputs(folder)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(Exception, match=r"out\.json can't be written: No space left on device"):
        opened.write(DOCUMENT)
    assert (folder / "out.json").read_text() == "yesterday's"
    assert [path.name for path in folder.iterdir()] == ["out.json"]


def test_a_reader_that_goes_away_takes_no_file_along(folder: Path) -> None:
    """`profile run … --json out.json | head -1`."""
    reader, writer = os.pipe()
    os.close(reader)
    answer = subprocess.run(
        [sys.executable, "-m", "profiler", "run", "linear", "--engine", "simulated", "--quick", "--json", "out.json"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(profiler.__file__).parents[1])},
        stdout=writer,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    os.close(writer)
    assert answer.returncode == 0, answer.stderr
    assert json.loads((folder / "out.json").read_text())["topology"] == "linear"
