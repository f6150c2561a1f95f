"""The class of an operator: what most of the time goes into that a row takes it."""

from __future__ import annotations

import pytest

from profiler.experiment.observation import OperatorWindow, summed_operators
from profiler.questions.search.readings.operator_class import OperatorClass, TimeParts, operator_class, time_parts
from tests.scenarios import window


def seen(*, busy_s: float, cpu_s: float, work_s: float | None, waiting_s: float | None) -> OperatorWindow:
    return OperatorWindow(1, 100.0, 100.0, busy_s, cpu_s, busy_s, work_s=work_s, waiting_s=waiting_s)


@pytest.mark.parametrize(
    ("work_s", "waiting_s", "hand_over_s", "wanted"),
    [
        (0.9, 0.05, 0.05, OperatorClass.CPU),
        (0.02, 0.9, 0.08, OperatorClass.SOJOURN),
        (0.1, 0.0, 0.4, OperatorClass.IO),
        (0.4, 0.3, 0.3, OperatorClass.MIXED),
        (0.5, 0.5, 0.0, OperatorClass.CPU),
    ],
)
def test_the_part_that_takes_half_of_the_time_names_the_class(work_s, waiting_s, hand_over_s, wanted):
    """CPU time beyond the operator's own is what handing its rows over costs."""
    parts = time_parts(seen(busy_s=work_s + waiting_s, cpu_s=work_s + hand_over_s, work_s=work_s, waiting_s=waiting_s))
    assert parts is not None
    assert operator_class(parts) is wanted


def test_parts_add_up_to_one():
    """They are parts of the time that a row takes, whatever the window's length."""
    parts = time_parts(seen(busy_s=6.0, cpu_s=3.0, work_s=2.0, waiting_s=4.0))
    assert parts == TimeParts(work=pytest.approx(2 / 7), waiting=pytest.approx(4 / 7), hand_over=pytest.approx(1 / 7))


def test_what_was_not_seen_has_no_class():
    """A function of DataFrames, and an operator that no row reached."""
    assert time_parts(seen(busy_s=1.0, cpu_s=1.0, work_s=None, waiting_s=None)) is None
    assert time_parts(seen(busy_s=0.0, cpu_s=0.0, work_s=0.0, waiting_s=0.0)) is None


def test_windows_add_up_and_state_is_the_last_one_s():
    """Times are sums over windows; the state is what is there at the end."""
    one = OperatorWindow(1, 1.0, 1.0, 1.0, 1.0, 1.0, work_s=0.25, waiting_s=0.5, state_rows=10)
    two = OperatorWindow(1, 1.0, 1.0, 1.0, 1.0, 1.0, work_s=0.25, waiting_s=0.25, state_rows=30)
    total = summed_operators([window(operators={"a": one}), window(operators={"a": two})])["a"]
    assert (total.work_s, total.waiting_s, total.state_rows) == (0.5, 0.75, 30)
    unknown = summed_operators([window(operators={"a": one}), window(operators={"a": seen(
        busy_s=1.0, cpu_s=1.0, work_s=None, waiting_s=None)})])["a"]  # fmt: skip
    assert unknown.work_s is None
