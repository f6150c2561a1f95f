"""What a measurement says of its windows."""

from __future__ import annotations

from dataclasses import replace

from profiler.experiment.observation import Measurement, summed_operators
from tests.scenarios import operator_window, outcome, window


class Counted(dict):
    """Operators of a window that count how often they are gone through."""

    reads = 0

    def items(self):
        self.reads += 1
        return super().items()


def test_operators_are_summed_once_however_often_they_are_asked_for():
    """A search asks a hundred times for sums that never change; the figures are those of adding up anew."""
    seen = Counted(work=operator_window(busy_s=0.1))
    measured = outcome({"work": 1}, [1000.0] * 3, operators=seen).measurement
    first = measured.operators
    assert seen.reads == 3
    assert measured.operators is first
    assert seen.reads == 3
    assert first == summed_operators(measured.windows)


def test_sums_that_were_asked_for_are_no_part_of_the_measurement():
    """It equals one that was not asked, and other windows have other sums."""
    operators = {"work": operator_window(busy_s=0.1)}
    asked, unasked = (outcome({"work": 1}, [1000.0] * 3, operators=operators).measurement for _ in range(2))
    assert asked.operators["work"].busy_s == sum([0.1] * 3)
    assert asked == unasked
    assert repr(asked) == repr(unasked)
    fewer: Measurement = replace(asked, windows=(window(1000.0, operators=operators),))
    assert fewer.operators["work"].busy_s == 0.1
