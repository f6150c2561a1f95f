"""The time left: guessed from the design first, from the rounds later, never below nothing while it runs."""

from __future__ import annotations

import pytest

from profiler.experiment.events import BlockStarted, RoundDecided, SearchEnded, TrialStarted, VerificationStarted
from profiler.experiment.rounds import Action, Step, Trial
from profiler.experiment.window_plan import WindowPlan
from profiler.job.configuration import Configuration
from profiler.report.time_left import TimeLeft
from tests.scenarios import outcome

ONE_EACH = Configuration.of({"in": 1, "work": 1})
ROUND = outcome({"in": 1, "work": 1}, [100.0] * 10)
DESIGN = WindowPlan(windows=10, probe=3, block=3, block_warm_up=1, blocks=6)


class Profiling:
    """A profile that is followed with a clock that the test moves."""

    def __init__(self, design=DESIGN, **more):
        self.now_s = 1000.0
        self.time_left = TimeLeft(design, 3.0, clock=lambda: self.now_s, **more)

    def after(self, seconds, *events):
        self.now_s += seconds
        for event in events:
            self.time_left(event)
        return self.time_left.left_s


def started(number):
    return TrialStarted(number, Trial(ONE_EACH, Step.PLATFORM, Action.SINKS))


def test_before_the_first_round_the_design_tells():
    """More windows, more blocks, a verification: each takes longer, and is told from the first second on."""
    quick = Profiling(WindowPlan(windows=5, probe=2, blocks=0)).time_left.left_s
    longer = Profiling(WindowPlan(windows=10, probe=2, blocks=0)).time_left.left_s
    confirmed = Profiling(WindowPlan(windows=10, probe=2, blocks=6)).time_left.left_s
    verified = Profiling(WindowPlan(windows=10, probe=2, blocks=6), batch_s=30.0).time_left.left_s
    assert 60 < quick < longer < confirmed < verified
    assert verified - confirmed == pytest.approx(5 + 4 * 30)


def test_the_rounds_tell_how_long_rounds_take():
    """Once two of five rounds took 30 s each, three more take 90."""
    profiling = Profiling(WindowPlan(blocks=0))
    profiling.after(20, started(1))
    profiling.after(30, RoundDecided(ROUND), started(2))
    assert profiling.after(30, RoundDecided(ROUND)) == pytest.approx(90)
    assert profiling.after(10) == pytest.approx(80)


def test_a_budget_bounds_the_rounds():
    """Five rounds of 30 s are foreseen, and there is time for less than four."""
    profiling = Profiling(WindowPlan(blocks=0), budget_s=100.0)
    profiling.after(20, started(1))
    profiling.after(30, RoundDecided(ROUND), started(2))
    assert profiling.after(30, RoundDecided(ROUND)) == pytest.approx(40)


def test_a_search_that_takes_longer_than_foreseen_still_takes_a_while():
    """The guess does not end before the search does."""
    profiling = Profiling(WindowPlan(blocks=0))
    profiling.after(20, started(1))
    for number in range(2, 12):
        profiling.after(30, RoundDecided(ROUND), started(number))
    assert profiling.after(200) == pytest.approx(15)


def test_blocks_and_production_batches_are_counted_down():
    """After the search only what is left of confirmation and verification counts."""
    profiling = Profiling(batch_s=30.0)
    first = profiling.after(300, SearchEnded(ROUND, ROUND), BlockStarted(0, 12, ONE_EACH))
    later = profiling.after(100, BlockStarted(6, 12, ONE_EACH))
    assert first - later == pytest.approx(6 * (5 + 4 * 3.8))
    assert profiling.after(100, VerificationStarted(ONE_EACH, 90.0, 30.0)) == pytest.approx(5 + 4 * 30)
    assert profiling.after(60) == pytest.approx(65)


def test_it_reads_as_a_clock():
    """Minutes and seconds, so far and left."""
    profiling = Profiling(WindowPlan(blocks=0), batch_s=30.0)
    profiling.after(65, VerificationStarted(ONE_EACH, 90.0, 30.0))
    assert str(profiling.time_left) == "1:05 so far, about 2:05 left"


def test_a_gate_is_one_round_and_the_blocks_of_two_versions():
    """Its first block ends the round that loads the engine; probes count as windows."""
    gate = Profiling(
        WindowPlan(windows=6, probe=0, block=3, block_warm_up=1, block_probe=1, blocks=8), rounds=1, arms=2
    )
    before = gate.after(20, started(1))
    assert 16 * (5 + 5 * 3.8) < before < 16 * (5 + 5 * 3.8) + 60
    assert gate.after(60, BlockStarted(0, 16, ONE_EACH, "baseline")) == pytest.approx(16 * (5 + 5 * 3.8))
    two = BlockStarted(0, 16, ONE_EACH, "baseline and candidate", together=2)
    assert gate.after(0, two) == pytest.approx(8 * (5 + 5 * 3.8))


def test_no_more_is_left_than_what_a_budget_of_all_leaves():
    """Eight blocks of both versions would take longer than six minutes, and are ended by then."""
    design = WindowPlan(windows=6, probe=0, block=3, block_warm_up=1, block_probe=1, blocks=8)
    gate = Profiling(design, rounds=1, arms=2, whole_s=360.0)
    assert gate.time_left.left_s == pytest.approx(360)
    gate.after(20, started(1))
    assert gate.after(60, BlockStarted(0, 16, ONE_EACH, "baseline")) == pytest.approx(280)
    assert gate.after(200, BlockStarted(15, 16, ONE_EACH, "baseline")) == pytest.approx(5 + 5 * 3.8)
    assert gate.after(100) == 0
