"""The recalibration bench, small: what it tells, and that it goes on where it stopped."""

from __future__ import annotations

import pytest

from profiler.engines.simulated.noise import Preset
from scripts.benches import recalibrate, saved


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Two profiles of one workload per preset, kept in a folder of the test's own."""
    monkeypatch.setattr(saved, "FOLDER", tmp_path)
    monkeypatch.setattr(recalibrate, "WORKLOADS", ("linear",))
    monkeypatch.setattr(recalibrate, "SEEDS", 2)
    recalibrate.saved_cases.cache_clear()
    yield tmp_path
    recalibrate.saved_cases.cache_clear()


@pytest.mark.long
def test_it_tells_the_part_of_the_rounds_that_is_saved_and_goes_on_where_it_stopped(small, monkeypatch):
    """Rounds cold and warm stand beside it, and the goal beside the whole; what was run is not run again."""
    found = list(recalibrate.rows())
    rows = {row["quantity"]: row for row in found}
    case = recalibrate.case_of("linear", Preset.QUIET, 0)
    assert case.unchanged < case.cold
    whole = rows["quiet: rounds saved, unchanged"]
    assert (whole["goal"], whole["n"]) == (0.6, 2)
    assert whole["ours"] == rows["quiet: linear, rounds saved"]["ours"]
    assert whole["low"] <= whole["ours"] <= whole["high"]
    assert rows["quiet: confirmed within two rounds"]["ours"] == 1
    recalibrate.saved_cases.cache_clear()
    monkeypatch.setattr(recalibrate, "run_case", lambda *_: pytest.fail("it was run again"))
    assert list(recalibrate.rows()) == found


@pytest.mark.long
def test_what_is_in_doubt_is_not_counted_as_confirmed(small, monkeypatch):
    """The stored answer stands then, but a recalibration says that it can't tell."""
    monkeypatch.setattr(recalibrate, "verdict", lambda *_: recalibrate.RecalibrationVerdict.INCONCLUSIVE)
    rows = {row["quantity"]: row for row in recalibrate.rows()}
    assert rows["quiet: confirmed within two rounds"]["ours"] == 0
    assert rows["quiet: unchanged, called inconclusive"]["ours"] == 1
