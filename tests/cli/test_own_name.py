"""Commands are told as the user calls them: there may be no `profile` on the path of who calls `scripts/profile`."""

from __future__ import annotations

import io
import shutil
import subprocess
from pathlib import Path

import pytest
from rich.text import Text

import profiler
from profiler.report.plain_terminal import PlainConsole

SCRIPT = Path(profiler.__file__).parents[1] / "scripts" / "profile"


@pytest.fixture
def by_script(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROFILE_COMMAND", "scripts/profile")


@pytest.mark.usefixtures("by_script")
def test_the_next_command_is_one_that_works(profile, refused) -> None:
    assert profile("init").stdout == "Wrote topology.py. Next: scripts/profile check topology.py\n"
    assert refused(profile("check", "nowhere.py")).endswith("'scripts/profile init FILE' writes one to start from.")
    assert profile("config", "show").exit_code == 0


@pytest.mark.usefixtures("by_script")
@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["recalibrate"], "--json file of 'scripts/profile run'"),
        (["history", "show"], "'scripts/profile history list'"),
        (["init"], "'scripts/profile check'"),
    ],
)
def test_help_names_commands_that_work(command: list[str], told: str, profile) -> None:
    assert told in " ".join(profile(*command, "--help").stdout.split())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Start anew: profile run.", "Start anew: scripts/profile run."),
        ("'profile history show x'", "'scripts/profile history show x'"),
        ("a profile of this one", "a profile of this one"),
        ("my-profile runs, profile", "my-profile runs, profile"),
    ],
)
@pytest.mark.usefixtures("by_script")
def test_only_commands_are_renamed(text: str, told: str) -> None:
    out = io.StringIO()
    console = PlainConsole(file=out, soft_wrap=True)
    console.print(text)
    console.print(Text(text, "bold"))
    assert out.getvalue() == f"{told}\n{told}\n"


def test_the_script_tells_its_name(tmp_path: Path) -> None:
    """Without its set-up: what it starts is one that says what it was told."""
    shutil.copy(SCRIPT, tmp_path / "profile")
    (tmp_path / "environment.sh").write_text('bin=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)/bin\n')
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "profile").write_text('#!/bin/sh\necho "$PROFILE_COMMAND" "$@"\n')
    (tmp_path / "bin" / "profile").chmod(0o755)
    said = subprocess.run(["./profile", "a"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert said == "./profile a\n"
