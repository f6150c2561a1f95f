"""The bench of recalibrations on Spark: what it reads off their documents, and that none is run twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts.benches import recalibrate_spark, workloads


@pytest.fixture
def calls(monkeypatch, tmp_path):
    """A cold profile of five rounds; recalibrations of one round, but for the third, which is searched anew."""
    made = []

    def timed(command, file, *arguments, check):
        made.append((command, json.loads(Path(file).read_text()), arguments))
        rounds, verdict = (4, "changed") if len(made) == 3 else (1, "confirmed")
        return {"document": {"rounds": rounds, "verdict": verdict}, "minutes": float(len(made))}

    monkeypatch.setattr("scripts.benches.saved.FOLDER", tmp_path)
    monkeypatch.setattr(workloads, "run_profile", lambda name: {"document": {"rounds": [{}] * 5}, "minutes": 11.0})
    monkeypatch.setattr(recalibrate_spark, "timed_document", timed)
    return made


def test_rounds_that_are_saved_are_counted_and_recalibrations_run_once(calls):
    """Six of fifteen rounds were needed; the second call runs nothing."""
    found = {row["quantity"]: row for row in recalibrate_spark.rows()}
    assert found["rounds saved"]["ours"] == pytest.approx(1 - 6 / 15)
    assert found["rounds saved"]["against"] == "cold 5 rounds, warm 1, 1, 4"
    assert found["confirmed within two rounds"]["ours"] == pytest.approx(2 / 3)
    assert found["unchanged, called changed"]["ours"] == pytest.approx(1 / 3)
    assert found["unchanged, called inconclusive"]["ours"] == 0
    assert found["minutes of a recalibration, the longest"]["ours"] == 3
    assert calls[0] == ("recalibrate", {"rounds": [{}] * 5}, ("--no-confirm",))
    list(recalibrate_spark.rows())
    assert len(calls) == 3
