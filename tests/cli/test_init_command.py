"""`profile init` writes a topology file to start from, and never over another one."""

from __future__ import annotations

from pathlib import Path

import pytest


def test_the_file_passes_check_without_a_warning(profile, folder: Path) -> None:
    answer = profile("init")
    assert (answer.exit_code, answer.stdout) == (0, "Wrote topology.py. Next: profile check topology.py\n")
    checked = profile("check", "topology.py", "--no-spark")
    assert checked.exit_code == 0
    assert "stateful by word" in checked.stdout
    assert "warning" not in checked.stdout


@pytest.mark.spark
def test_the_file_passes_check_on_spark_without_a_warning(shell, folder: Path) -> None:
    shell("init", "job.py")
    checked = shell("check", "job.py")
    assert checked.returncode == 0, checked.stderr
    assert "warning" not in checked.stdout


def test_the_file_runs_on_the_simulated_engine(profile, folder: Path) -> None:
    profile("init", "job.py")
    answer = profile("run", "job.py", "--engine", "simulated", "--quick", "--json", "-")
    assert answer.exit_code == 0, answer.stderr


def test_the_file_names_itself(profile, folder: Path) -> None:
    (folder / "jobs").mkdir()
    profile("init", "jobs/mine.py")
    assert "profile check jobs/mine.py " in (folder / "jobs/mine.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["\udcff.py", "a\udcfe\udcff.py"])
def test_a_file_whose_name_is_no_text_is_python_too(name: str, profile, folder: Path) -> None:
    assert profile("init", name).exit_code == 0
    compile((folder / name).read_bytes(), name, "exec")
    assert b"profile check " + name.encode("utf-8", "backslashreplace") in (folder / name).read_bytes()


def test_a_file_is_overwritten_only_by_force(profile, refused, folder: Path) -> None:
    (folder / "topology.py").write_text("mine\n", encoding="utf-8")
    assert refused(profile("init")).startswith("'topology.py' exists.")
    assert (folder / "topology.py").read_text(encoding="utf-8") == "mine\n"
    assert profile("init", "--force").exit_code == 0
    assert "Topology.chain" in (folder / "topology.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("job.txt", "'job.txt' does not end in .py."),
        ("a/b.py", "'a/b.py' cannot be written: No such file or directory."),
    ],
)
def test_a_place_that_does_not_work_is_refused(name: str, sentence: str, profile, refused) -> None:
    assert refused(profile("init", name)).startswith(sentence)
