"""`profile run` on the simulated engine, as a user calls it."""

from __future__ import annotations

import json

import jsonschema
import pytest

from profiler.questions.schemas import PROFILE
from profiler.questions.search import terms

SIMULATED = ("--engine", "simulated", "--nodes", "3", "--cores", "2", "--seed", "1")


def test_it_prints_an_answer_on_stdout_and_progress_on_stderr(shell):
    """Configuration, throughput, gain, rounds and settings; nothing else on stdout."""
    answer = shell("run", "linear", *SIMULATED)
    assert answer.returncode == 0, answer.stderr
    for part in ("Answer: linear on simulated", "work-3", "throughput", "confirmed: increased", "Settings to paste"):
        assert part in answer.stdout
    assert "round 1: start" in answer.stderr
    assert "round 1: start" not in answer.stdout


def test_json_on_stdout_is_one_document(profile):
    """`--json -` can be piped into another program."""
    answer = profile("run", "diamond", *SIMULATED, "--json", "-", "--quiet")
    assert answer.exit_code == 0, answer.stderr
    document = json.loads(answer.stdout)
    jsonschema.validate(document, PROFILE.read())
    assert document["topology"] == "diamond"
    assert answer.stderr == ""


def test_json_to_a_file_leaves_the_table_on_stdout(profile, folder):
    """A file gets the document, the person the table."""
    answer = profile("run", "star", *SIMULATED, "--json", "star.json", "--no-confirm")
    assert "Answer: star" in answer.stdout
    assert json.loads((folder / "star.json").read_text())["confirmed"] is None


def test_the_same_seed_gives_the_same_answer(profile):
    """A simulated profile is reproducible."""
    one, two = (json.loads(profile("run", "star", *SIMULATED, "--json", "-").stdout) for _ in range(2))
    assert one["rounds"] == two["rounds"]
    assert one["best"] == two["best"]


def test_quick_looks_shorter_and_says_that_nothing_was_confirmed(profile):
    """Fewer windows, no confirmation, marked so."""
    answer = profile("run", "linear", *SIMULATED, "--quick")
    assert "not confirmed" in answer.stdout
    document = json.loads(profile("run", "linear", *SIMULATED, "--quick", "--json", "-").stdout)
    assert len(document["rounds"][0]["throughput_per_s"]) == 5


def test_quick_ends_in_time_however_slow_the_machine_is(profile, monkeypatch):
    """It promises four minutes; who asks for another budget gets that."""
    monkeypatch.setattr(terms, "QUICK_BUDGET_S", 0.001)
    cut_short = json.loads(profile("run", "linear", *SIMULATED, "--quick", "--json", "-").stdout)
    assert len(cut_short["rounds"]) == 1
    asked = json.loads(profile("run", "linear", *SIMULATED, "--quick", "--budget", "1h", "--json", "-").stdout)
    thorough = json.loads(profile("run", "linear", *SIMULATED, "--no-confirm", "--json", "-").stdout)
    assert min(len(asked["rounds"]), len(thorough["rounds"])) > 1


def test_a_file_that_cannot_be_written_is_refused_before_measuring(profile, refused):
    """A result must not be lost at the end."""
    assert "--json" in refused(profile("run", "linear", *SIMULATED, "--json", "missing/folder/x.json"))


@pytest.mark.parametrize("kind", ["csv", "md"])
def test_exports_hold_every_round(profile, folder, kind):
    """A line per round, with its tasks and decision."""
    answer = profile("run", "linear", *SIMULATED, "--export", f"{kind}=out.{kind}", "--json", "out.json")
    assert answer.exit_code == 0, answer.stderr
    text = (folder / f"out.{kind}").read_text()
    for seen in json.loads((folder / "out.json").read_text())["rounds"]:
        assert seen["action"] in text
        assert seen["why"] in text


def test_a_budget_of_nothing_ends_after_the_first_round(profile):
    """The answer is what was found so far, and says so."""
    answer = profile("run", "word-count", *SIMULATED, "--budget", "1ms")
    assert answer.exit_code == 0
    assert "budget ended the search" in " ".join(answer.stdout.split())
