"""Holm's adjustment."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiler.statistics.holm import holm

p_values = st.lists(st.floats(0, 1), max_size=12)


def test_a_known_example() -> None:
    """Holm's method on four values, as in the textbooks."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_one_value_stays_as_it_is() -> None:
    """A single criterion needs no adjustment; none gives none."""
    assert holm([0.04]) == (0.04,)
    assert holm([]) == ()


@given(p_values)
def test_adjusted_values_lie_between_plain_and_bonferroni(values: list[float]) -> None:
    """Holm never rejects more than no adjustment, never less than Bonferroni."""
    for plain, adjusted in zip(values, holm(values), strict=True):
        assert plain <= adjusted <= min(1.0, plain * len(values)) + 1e-12 or adjusted == max(holm(values))
        assert adjusted <= 1.0


@given(p_values)
def test_order_does_not_matter(values: list[float]) -> None:
    """The same values in another order get the same adjustment."""
    assert sorted(holm(values)) == pytest.approx(sorted(holm(values[::-1])))


@given(p_values, st.floats(0.001, 0.2))
def test_rejections_are_those_of_the_step_down_procedure(values: list[float], alpha: float) -> None:
    """Going up from the smallest, reject while p ≤ alpha / (m − i); stop at the first that fails."""
    rejected = 0
    for i, p in enumerate(sorted(values)):
        if p * (len(values) - i) > alpha:
            break
        rejected += 1
    assert sum(adjusted <= alpha for adjusted in holm(values)) == rejected
