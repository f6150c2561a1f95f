"""The gate bench, small: what it promises, what it finds, and that it goes on where it stopped."""

from __future__ import annotations

import pytest

from profiler.questions.gate.criteria import Criterion
from scripts.benches import gate, saved


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Two gates per topology and slowdown, of one topology, kept in a folder of the test's own."""
    monkeypatch.setattr(saved, "FOLDER", tmp_path)
    monkeypatch.setattr(gate, "CASES", {"linear": "work-2"})
    monkeypatch.setattr(gate, "SLOWDOWNS", (0.2,))
    monkeypatch.setattr(gate, "GATES", 2)
    for cached in (gate.saved_gates, gate.true_effects):
        cached.cache_clear()
    yield tmp_path
    for cached in (gate.saved_gates, gate.true_effects):
        cached.cache_clear()


@pytest.mark.long
def test_it_tells_false_alarms_finds_and_names(small):
    """With the promise that the finds are held against."""
    rows = {row["quantity"]: row for row in gate.rows()}
    assert rows["unchanged code: called slower"]["ours"] == 0
    assert rows["20% more work: found"]["ours"] == 1
    assert rows["20% more work: right operator named, of those found"]["ours"] == 1
    assert rows["20% more work: upper end of that"]["goal"] > 0.9


@pytest.mark.long
def test_it_goes_on_where_it_stopped(small, monkeypatch):
    """What was run is not run again."""
    rows = list(gate.rows())
    gate.saved_gates.cache_clear()
    gate.true_effects.cache_clear()
    monkeypatch.setattr(gate, "run_gate", lambda *_: pytest.fail("it was run again"))
    assert list(gate.rows()) == rows


@pytest.mark.long
def test_gates_that_ended_early_promise_too(small, monkeypatch):
    """They are those of quieter days: a promise without them would be easier to keep."""
    early = next(seed for seed in range(20) if gate.one_gate("linear", 0.0, seed).blocks == gate.DESIGN.blocks)
    monkeypatch.setattr(gate, "GATES", early + 1)
    asked = []
    monkeypatch.setattr(gate, "power", lambda effect, detectable, tries: asked.append(detectable) or 0.8)
    rows = {row["quantity"]: row for row in gate.rows()}
    assert gate.stated_detectable("linear", early)[Criterion.CPU] in asked
    assert rows["detectable slowdown by cpu-per-row, median"]["n"] == early + 1
    blocks = gate.measured_gate("linear", 0.0, early, gate.NEVER_DECIDED).blocks
    assert len(blocks) == 2 * gate.DESIGN.blocks


@pytest.mark.long
def test_the_true_effect_of_a_slower_operator_is_known(small):
    """A fifth more work in one of three equal operators, which is the bottleneck as well."""
    effects = gate.true_effects("linear", 0.2)
    assert effects[Criterion.CPU] == pytest.approx(0.2 / 3, abs=0.01)
    assert effects[Criterion.OPERATOR] == pytest.approx(0.2 / 3, abs=0.01)
    assert effects[Criterion.THROUGHPUT] == pytest.approx(0.2, abs=0.03)


def test_the_promise_is_kept_at_the_detectable_effect():
    """80 % there, less below it, more above it, and nothing much below the limit."""
    assert gate.power(0.09, 0.09, 1) == pytest.approx(0.8, abs=0.02)
    assert gate.power(0.05, 0.09, 1) < 0.5
    assert gate.power(0.12, 0.09, 1) > 0.9
    assert gate.power(0.0, 0.055, 1) < 0.01
