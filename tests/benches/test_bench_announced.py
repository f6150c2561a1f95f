"""The bench of announced rates, small: how it scores, what its yardstick is, and that it goes on where it stopped."""

from __future__ import annotations

import pytest

from profiler.engines.simulated.noise import Preset
from profiler.job.configuration import Configuration
from scripts.benches import announced, saved
from scripts.benches.announced_jobs import jobs
from scripts.benches.optimum import grid, highest_held_rate


@pytest.fixture
def small(tmp_path, monkeypatch):
    """One profile of one job, kept in a folder of the test's own."""
    monkeypatch.setattr(saved, "FOLDER", tmp_path)
    monkeypatch.setattr(announced, "SEEDS", 2)
    monkeypatch.setattr(announced, "GOALS", {Preset.QUIET: (0.98, 0.93)})
    chosen = {job.name: job for job in jobs() if job.name == "six slots"}
    monkeypatch.setattr(announced, "known_jobs", lambda: chosen)
    for cached in (announced.saved_answers, announced.saved_rates):
        cached.cache_clear()
    yield tmp_path
    for cached in (announced.saved_answers, announced.saved_rates):
        cached.cache_clear()


def _announced(rate_per_s: float, held_per_s: float = 1000, best_per_s: float = 1250) -> announced.Announced:
    return announced.Announced("(1,1)", 2, rate_per_s, held_per_s, best_per_s)


def test_a_rate_that_is_too_high_is_as_wrong_as_one_that_is_too_low():
    """By its ratio to the true one, and by that of the answer's tasks to the best ones."""
    assert _announced(900).part == pytest.approx(0.9)
    assert _announced(1000 / 0.9).part == pytest.approx(0.9)
    assert _announced(900).part_of_best == pytest.approx(0.72)
    assert _announced(1000 / 0.9).part_of_best == pytest.approx(0.72)
    assert [_announced(rate).is_too_much for rate in (900, 1019, 1021)] == [False, False, True]


def test_a_rate_where_none_holds_is_worth_nothing():
    """Whatever was announced."""
    assert _announced(10, held_per_s=0).part == 0
    assert _announced(10, held_per_s=0).is_too_much


@pytest.mark.long
@pytest.mark.parametrize("name", ["seven slots", "hot key of 30%"])
def test_the_best_rate_is_the_best_of_all_configurations(name):
    """Not all are looked at closely, but none holds more."""
    job = next(job for job in jobs() if job.name == name)
    engine, constraint, slots = job.engine(Preset.QUIET, 0), job.constraint(), min(job.slots, 12)
    held = [
        engine.highest_rate(
            job.topology, Configuration.of(dict(zip(job.topology.names, map(int, counts), strict=True))), constraint
        )
        for counts in grid(job.topology, slots)
    ]
    assert highest_held_rate(engine, job.topology, slots, constraint, announced.BATCH_S) == pytest.approx(
        max(held), rel=0.002
    )


def test_every_job_has_a_name_of_its_own_and_can_keep_its_latency():
    """A profile is kept by its job's name; where no rate holds there is nothing to announce."""
    found = jobs()
    assert len(found) >= 29
    assert len({job.name for job in found}) == len(found)
    for job in found:
        alone = Configuration.of(dict.fromkeys(job.topology.names, 1))
        assert job.engine(Preset.QUIET, 0).highest_rate(job.topology, alone, job.constraint()) > 0


@pytest.mark.long
def test_it_tells_part_and_excess_and_goes_on_where_it_stopped(small, monkeypatch):
    """Per preset and kind of job, the worst one by one; what was run is not run again."""
    found = list(announced.rows())
    rows = {(row["quantity"], row["against"]): row for row in found}
    mean = rows["quiet: announced rate, mean", "what its tasks hold"]
    assert (mean["goal"], mean["n"]) == (0.98, 2)
    assert 0.8 < mean["ours"] <= 1
    assert rows["quiet: announced rate, more than 2% too much", "the same"]["better"] == "lower"
    announced.saved_answers.cache_clear()
    monkeypatch.setattr(announced, "run_case", lambda *_: pytest.fail("it was run again"))
    assert list(announced.rows()) == found
    assert "quiet six slots, seed 1: (" in announced.appendix()
