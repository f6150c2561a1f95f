"""Java is found at JAVA_HOME or on PATH, if it is new enough and whole."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from profiler.errors import ProfileError
from profiler.services.java import SPARK_MODULE, ask, find_java, java_version


def fake_java(home: Path) -> Path:
    """Put a file where a Java would be."""
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.touch(mode=0o755)
    return executable


def answering(versions: dict[Path, str], modules: str = SPARK_MODULE) -> Callable[[Path, str], str]:
    """Answer for the files like Javas of those versions."""

    def ask(executable: Path, option: str) -> str:
        version = versions[executable]
        return f'openjdk version "{version}" 2025-04-15' if option == "-version" else f"{modules}@{version}"

    return ask


@pytest.mark.parametrize(
    ("answer", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_292"', 8),
        ('openjdk version "21-ea" 2023-09-19', 21),
        ('openjdk version "26" 2026-03-17', 26),
        ("command not understood", None),
    ],
)
def test_the_major_version_is_read_from_every_form(answer: str, major: int | None) -> None:
    """Old and new version schemes."""
    assert java_version(answer) == major


def test_java_home_goes_before_path(tmp_path: Path) -> None:
    """As it does for Spark."""
    home, path = fake_java(tmp_path / "home"), fake_java(tmp_path / "path")
    env = {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(path.parent)}
    java = find_java(env, ask=answering({home: "21.0.1", path: "17.0.1"}))
    assert (java.executable, java.major, java.home) == (home, 21, tmp_path / "home")


def test_a_java_on_path_is_taken_where_java_home_is_too_old(tmp_path: Path) -> None:
    """What runs is taken, and its home goes to Spark."""
    home, path = fake_java(tmp_path / "home"), fake_java(tmp_path / "path")
    env = {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(path.parent)}
    assert find_java(env, ask=answering({home: "1.8.0_292", path: "17.0.1"})).executable == path


def test_no_java_is_said_with_the_way_out() -> None:
    """Neither JAVA_HOME nor PATH."""
    with pytest.raises(ProfileError, match="Java 17 or newer was not found") as raised:
        find_java({"PATH": ""})
    assert "JAVA_HOME" in raised.value.hint
    assert raised.value.exit_code == 3


def test_an_old_java_is_named_with_its_version(tmp_path: Path) -> None:
    """The message says which one was looked at."""
    old = fake_java(tmp_path)
    with pytest.raises(ProfileError, match=f"{old} is Java 11"):
        find_java({"PATH": str(old.parent)}, ask=answering({old: "11.0.2"}))


def test_a_java_without_sparks_module_is_refused(tmp_path: Path) -> None:
    """A reduced runtime would fail later, obscurely."""
    reduced = fake_java(tmp_path)
    with pytest.raises(ProfileError, match="without the module"):
        find_java({"PATH": str(reduced.parent)}, ask=answering({reduced: "17.0.2"}, modules="java.base"))


def test_a_java_home_without_java_is_named(tmp_path: Path) -> None:
    """A JAVA_HOME that points nowhere is told, not skipped silently."""
    with pytest.raises(ProfileError, match="JAVA_HOME has no java"):
        find_java({"JAVA_HOME": str(tmp_path / "gone")})


def test_a_java_that_does_not_run_is_told(tmp_path: Path) -> None:
    """For example the placeholder of a system without Java."""
    broken = fake_java(tmp_path)
    with pytest.raises(ProfileError, match="does not run"):
        find_java({"PATH": str(broken.parent)}, ask=lambda _executable, _option: "")


def test_a_program_that_fails_has_no_answer() -> None:
    """Neither one that is missing, nor one that exits with an error."""
    assert ask(Path("/nonexistent/program"), "-version") == ""
    assert ask(Path("false"), "-version") == ""


def test_a_whole_command_asks_each_java_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes are started, for its version and its modules, however often it is looked for."""
    started: list[tuple[str, str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        started.append((Path(command[0]).parts[-3], command[1]))
        return subprocess.CompletedProcess(command, 0, f'openjdk version "17.0.15" {SPARK_MODULE}', "")

    monkeypatch.setattr(subprocess, "run", run)
    for home in ("one", "other"):
        fake_java(tmp_path / home)
    for home in ("one", "one", "other", "one"):
        assert find_java({"JAVA_HOME": str(tmp_path / home)}).major == 17
    asked = ("-version", "--list-modules")
    assert started == [(home, option) for home in ("one", "other") for option in asked]


@pytest.mark.kafka
def test_this_machines_java_is_found() -> None:
    """The real parts of the suite need one."""
    assert find_java().major >= 17
