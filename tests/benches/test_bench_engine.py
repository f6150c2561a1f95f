"""The engine bench without an engine: its figures, and that what is saved is not measured again."""

from __future__ import annotations

import math
from contextlib import contextmanager

import pytest

from scripts.benches import engine
from scripts.benches.ratios import mean_ratio
from scripts.benches.rows import row
from scripts.benches.uninstrumented import due_s
from scripts.benches.warm_engine import AtNeed


def test_a_steady_drift_leaves_the_ratio_of_neighbours_alone():
    """The machine gets four times as fast meanwhile; every pair still shows 0.9."""
    theirs = [100.0, 200.0, 400.0]
    middle, low, high = mean_ratio([0.9 * each for each in theirs], theirs)
    assert (middle, low, high) == pytest.approx((0.9, 0.9, 0.9))


def test_the_interval_of_a_ratio_lies_around_its_geometric_mean():
    """Twice as fast and half as fast make no difference, with an interval that is symmetric in logs."""
    middle, low, high = mean_ratio([2.0, 1.0], [1.0, 2.0])
    assert middle == pytest.approx(1.0)
    assert low * high == pytest.approx(1.0)
    assert low < 0.5


def test_one_pair_has_no_interval():
    """A single ratio says nothing of its error."""
    assert mean_ratio([3.0], [2.0]) == (pytest.approx(1.5), None, None)


def test_a_block_counts_rows_and_not_windows():
    """A long window weighs more than a short one."""
    block = engine.Block.of([(3000.0, 3.0, 0.3), (1000.0, 2.0, 0.1)])
    assert block.per_s == pytest.approx(800.0)
    assert block.cpu_us_per_row == pytest.approx(100.0)


def test_more_is_better_in_both_ratios():
    """Instrumentation that takes throughput and CPU time shows as less than 1, twice, and misses its goal."""
    pairs = [(engine.Block(90.0, 11.0), engine.Block(100.0, 10.0))] * 2
    throughput, per_cpu, *others = engine.cost_rows(pairs)
    assert throughput["ours"] == pytest.approx(0.9)
    assert per_cpu["ours"] == pytest.approx(10 / 11)
    assert throughput["goal"] == per_cpu["goal"] == 0.97
    assert [each["ours"] for each in others] == pytest.approx([90.0, 11.0, 100.0, 10.0])


def test_the_parts_between_two_rounds_make_up_the_whole():
    """Closing, deploying and reaching the rate are what is lost; with the window it is the whole time."""
    seen = [engine.Between(1.0, 3.0, 5.0, 3.0), engine.Between(2.0, 3.0, 5.0, 3.0)]
    whole, lost, *parts = (each["ours"] for each in engine.between_rows(seen))
    assert (whole, lost) == pytest.approx((9.5, 6.5))
    assert math.fsum(parts) == pytest.approx(lost)


def test_what_is_saved_is_not_measured_again(monkeypatch, tmp_path):
    """A second call gives the same rows and opens no engine."""
    opened = []

    @contextmanager
    def warm():
        opened.append(1)
        yield None

    monkeypatch.setattr("scripts.benches.saved.FOLDER", tmp_path)
    monkeypatch.setattr(engine, "warm_engine", warm)
    monkeypatch.setattr(engine, "instrumented_block", lambda at, sizes: engine.Block(99.0, 10.0))
    monkeypatch.setattr(engine, "uninstrumented_block", lambda at, sizes: engine.Block(100.0, 10.0))
    seconds = {"closing_s": 1.0, "deploying_s": 2.0, "first_window_s": 4.0, "window_s": 3.0}
    monkeypatch.setattr(engine.SearchRounds, "next_round", lambda self: seconds)
    monkeypatch.setattr(engine.generator, "rows", lambda keep: iter([row("top rate", 1.6, n=6)]))
    first = list(engine.rows(engine.Sizes(pairs=2, rounds=2)))
    assert opened == [1]
    assert first[-1]["quantity"] == "top rate"
    assert list(engine.rows(engine.Sizes(pairs=2, rounds=2))) == first
    assert opened == [1]


def test_the_due_time_of_an_output_row_is_read_to_the_millisecond():
    """As Spark writes it: the zone is UTC."""
    assert due_s(b'{"word":"a","n":3,"event_time":"1970-01-01T00:00:01.250Z"}') == pytest.approx(1.25)


def test_nothing_is_opened_that_nobody_needs():
    """What is needed twice is opened once, and closed at the end."""
    told = []

    @contextmanager
    def opened():
        told.append("opened")
        yield "it"
        told.append("closed")

    with AtNeed(opened):
        pass
    assert told == []
    with AtNeed(opened) as needed:
        assert needed.get() == needed.get() == "it"
        assert told == ["opened"]
    assert told == ["opened", "closed"]
