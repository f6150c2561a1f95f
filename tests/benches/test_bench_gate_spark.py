"""The bench of gates on Spark: what it reads off their documents, and that none is run twice."""

from __future__ import annotations

import pytest

from scripts.benches import gate_spark


def document(verdict: str, effect: float = 0.01, *, measured: bool = True, named: str = "count"):
    """Build what the bench reads of a gate's document."""
    return {
        "verdict": verdict,
        "baseline": {"interleaved": True},
        "criteria": [{"criterion": "cpu-per-row", "effect": effect}] if measured else [],
        "slower_operator": named if verdict == "slower" else None,
        "drill": {"operator": "count", "expected_effect": 0.02},
    }


@pytest.fixture
def calls(monkeypatch, tmp_path):
    """Answer every gate at once: unchanged code passes but for one, a drill of two is red."""
    made = []

    def gate(*arguments):
        made.append(arguments)
        drills = sum(each[1] == "--drill" for each in made)
        if arguments[1] == "--drill":
            verdict = document("slower") if drills < 2 else document("inconclusive", measured=False)
        else:
            verdict = document("slower" if len(made) == 2 else "pass")
        return {"document": verdict, "minutes": float(len(made))}

    monkeypatch.setattr("scripts.benches.saved.FOLDER", tmp_path)
    monkeypatch.setattr(gate_spark, "GATES", 2)
    monkeypatch.setattr(gate_spark, "DRILLS_OVER_BATCHES", 1)
    monkeypatch.setattr(gate_spark, "run_gate", gate)
    return made


def test_verdicts_are_counted_and_gates_run_once(calls):
    """A baseline, the unchanged code, the drills; the second call runs nothing."""
    found = {row["quantity"]: row["ours"] for row in gate_spark.rows()}
    assert found["unchanged code called slower"] == 0.5
    assert found["unchanged code passed"] == 0.5
    assert found["drills of 20% of an operator of SQL that exit 1"] == 0.5
    assert found["drills of an operator of SQL: CPU per row seen, in parts of what was expected"] == 0.5
    assert found["of these, the right operator named"] == 1
    assert found["drills of an operator of SQL that were not measured"] == 0.5
    assert found["drills of 20% of a function over batches that exit 1"] == 0
    assert found["drills of a function over batches that were not measured"] == 1
    assert found["minutes of a gate, the longest"] == 6
    assert found["gates whose baseline took its turns"] == 1
    assert calls[:2] == [("word-count", "--save-baseline", "bench"), ("word-count", "--baseline", "bench")]
    list(gate_spark.rows())
    assert len(calls) == 6
