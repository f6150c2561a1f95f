"""The bench of the workloads, with profiles of the simulated engine in place of Spark's."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from profiler.cli.app import app
from profiler.questions.search.bound import is_bound_by_waiting
from scripts.benches import workloads
from tests.search.test_late_start import profiled


@pytest.fixture
def calls(monkeypatch, tmp_path):
    """Profile one workload on the simulated engine; the list says how often."""
    made = []

    def profile(name):
        made.append(name)
        file = tmp_path / "out.json"
        options = ("--engine", "simulated", "--noise", "quiet", "--quiet", "--json", str(file))
        assert CliRunner().invoke(app, ["run", name, *options]).exit_code == 0
        return {"document": json.loads(file.read_text()), "minutes": 1.5}

    monkeypatch.setattr("scripts.benches.saved.FOLDER", tmp_path / "saved")
    monkeypatch.setattr(workloads, "WORKLOADS", ("diamond",))
    monkeypatch.setattr(workloads, "run_profile", profile)
    return made


def test_a_profile_is_told_and_foretold(calls):
    """Throughput, gain, rounds, minutes, and how far the simulated engine is off; made once."""
    found = {row["quantity"].removeprefix("diamond: "): row for row in workloads.rows()}
    assert found["gain over one task each"]["ours"] > 1
    assert found["minutes"]["ours"] == 1.5
    assert found["simulated start, error"]["ours"] < workloads.WAITING_GOAL
    assert found["simulated answer, error"]["ours"] < workloads.WAITING_GOAL
    assert "tasks (1,1,1,1,1,1) → (" in found["throughput"]["against"]
    assert "| `diamond` | (1,1,1,1,1,1) → (" in workloads.appendix()
    assert found["tasks of ask and look-up more than any other has"]["ours"] > 0
    assert calls == ["diamond"]


def test_every_prediction_has_the_goal_of_what_bounds_it(calls):
    """One task each of *diamond* waits."""
    (diamond,) = workloads.profiled()
    assert diamond.prediction_goal("initial") == workloads.WAITING_GOAL
    start = diamond.stressed("initial")
    assert is_bound_by_waiting(start, diamond.cores)
    assert not is_bound_by_waiting(start, 0.01), "so much work for so few cores"


def test_tasks_of_dominated_operators_are_told():
    """More than one would be wasted on a load that does not grow."""
    features = {"top": {"dominated": False}, "print": {"dominated": True}}
    document = {"best": {"tasks": {"in": 1, "top": 1, "print": 3}}, "features": {"operators": features}}
    (found,) = workloads.task_rows(workloads.Profiled("twitter-sentiment", document, 1.0))
    assert (found["ours"], found["goal"], found["better"]) == (3, 1, "lower")


@pytest.mark.parametrize(("slots", "latency_ms", "is_late"), [(4, 60, True), (15, 500, False)])
def test_a_start_that_is_too_late_is_no_rate_to_gain_on(slots, latency_ms, is_late):
    """Read off the rounds, so that documents of older versions tell it too."""
    _, document = profiled(slots, latency_ms)
    assert workloads.Profiled("waits", document, 1.5).starts_late is is_late
