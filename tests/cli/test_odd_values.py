"""Numbers that no machine has, and names that no file has, are the user's mistakes and are told as such."""

from __future__ import annotations

from pathlib import Path

import pytest

NUMBERS = {
    "a part next to nothing": (["--slice", "1e-320"], "--slice is '1e-320', not a part above 0% to 100%."),
    "a percentage next to nothing": (["--alpha", "1e-320%"], "--alpha is '1e-320%', not a part above 0% to 100%."),
    "nodes beyond integers": (
        ["--nodes", "1" + "0" * 20],
        "--nodes is '100000000000000000000', not a whole number from 1 to",
    ),
    "cores of many digits": (["--cores", "9" * 5000], "9…', not a whole number from 1 to"),
    "a seed beyond integers": (["--seed", "9" * 20], "', which is too large. Name a smaller one."),
    "an endless window": (["--window", "1e999s"], "--window is '1e999s', which is too large."),
    "a budget beyond clocks": (["--budget", "1e300d"], "--budget is '1e300d', which is too large."),
    "no latency": (["--latency", "1e-320s"], "--latency is '1e-320s', not a duration above zero."),
    "an endless factor": (["--stop-factor", "1e999"], "--stop-factor is '1e999', which is too large."),
}
FILES = {
    "nobody's home": ("~nosuchuser/job.py", "'~nosuchuser/job.py' begins with the home of a user that does not exist"),
    "a long name": ("n" * 300 + ".py", "…' names no file: File name too long. Name another one."),
    "a name with NUL": ("a\0b.py", "'a\\x00b.py' is no name that a file can have."),
    "a name with half a character": ("a\ud800.py", "'a\\ud800.py' is no name that a file can have."),
    "a circle of links": ("circle.py", "'circle.py' names no file: Too many levels of symbolic links."),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_a_number_that_no_machine_has_is_refused(case, profile, refused) -> None:
    arguments, sentence = NUMBERS[case]
    assert sentence in refused(profile("run", "linear", "--engine", "simulated", *arguments))


@pytest.mark.parametrize("content", [b"\xff\xfe\n\x00\n", b"\x80\n", b"[" * 99999 + b"\n", b"\n\xc3\x28\n"])
def test_a_job_s_history_that_is_no_text_is_refused_by_its_line(content, profile, refused, folder: Path) -> None:
    quick = ["--engine", "simulated", "--quick", "--quiet", "--no-confirm"]
    assert profile("run", "linear", *quick, "--json", "profile.json").exit_code == 0
    (folder / "job.bin").write_bytes(content)
    number = 1 + content.startswith(b"\n")
    said = refused(profile("recalibrate", "profile.json", "--watch", "--job", "job.bin", "--quiet"))
    assert said.startswith(f"Line {number} of job.bin is no window of a job.")


@pytest.mark.parametrize("case", FILES)
@pytest.mark.parametrize(
    "call",
    [
        ["check", "FILE"],
        ["run", "linear", "--payloads", "FILE"],
        ["gate", "linear", "--against", "FILE", "--engine", "simulated"],
    ],
    ids=["topology", "payloads", "against"],
)
def test_a_name_that_no_file_has_is_refused(case, call, profile, refused, folder: Path) -> None:
    name, sentence = FILES[case]
    (folder / "circle.py").symlink_to("circle.py")
    assert sentence in refused(profile(*[name if each == "FILE" else each for each in call]))


@pytest.mark.parametrize("name", ["\udcff", "run-\udcff"])
@pytest.mark.parametrize("more", [[], ["--dry-run"], ["--watch"]], ids=["recalibrate", "dry", "watch"])
def test_a_profile_that_no_history_can_hold_is_refused(name, more, profile, refused, folder: Path) -> None:
    """Before a database is started."""
    said = refused(profile("recalibrate", name, *more))
    assert said.startswith(f"{name!a} is no name of a run or a topology.")


@pytest.mark.parametrize("name", ["r" * 5000, "a\ud800", "../../x", "."])
@pytest.mark.parametrize("call", [["run", "linear"], ["gate", "linear", "--aa"]], ids=["run", "gate"])
def test_a_run_that_cannot_be_is_not_gone_on_with(name, call, profile, refused, store, folder: Path) -> None:
    """Files are called by runs, and no such file is made."""
    said = refused(profile(*call, "--engine", "simulated", "--mongo", "mongodb://nowhere", "--quiet", "--resume", name))
    assert said.startswith("The history holds no run '")
    assert len(said) < 200
