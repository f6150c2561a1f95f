"""Student's t for a difference of logs, against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from profiler.statistics.student import LogDifference, relative, welch_satterthwaite


@pytest.mark.parametrize("freedom", [1.0, 4.5, 12.0, math.inf])
def test_detectable_effect_has_the_power_it_promises(freedom: float) -> None:
    """At the detectable effect scipy's non-central t puts 80 % beyond the critical value."""
    design = LogDifference(0.0, 0.04, freedom)
    shift = math.log1p(design.detectable_effect(0.05)) / 0.04
    finite = min(freedom, 1e6)
    assert stats.nct.sf(stats.t.isf(0.025, finite), finite, shift) == pytest.approx(0.8, abs=1e-3)


def test_detectable_effect_respects_the_relevant_one() -> None:
    """Without noise an effect only has to be relevant; with noise the estimate has to exceed the relevant effect."""
    assert LogDifference(0.0, 0.0, 10).detectable_effect(0.05, 0.03) == pytest.approx(0.03)
    assert LogDifference(0.0, 0.005, 10).detectable_effect(0.05, 0.03) == pytest.approx(
        1.03 * math.exp(0.8416 * 0.005) - 1, rel=1e-3
    )


def test_an_increase_is_tested_on_one_side() -> None:
    """Half of the two-sided p where there is one, nearly 1 where it is a decrease; without noise it is certain."""
    rise, fall = LogDifference(0.05, 0.02, 9.0), LogDifference(-0.05, 0.02, 9.0)
    assert rise.increase_p == pytest.approx(rise.p / 2)
    assert fall.increase_p == pytest.approx(1 - fall.p / 2)
    assert LogDifference(0.05, 0.0, 9.0).increase_p == 0.0
    assert LogDifference(-0.05, 0.0, 9.0).increase_p == LogDifference(0.0, 0.0, 9.0).increase_p == 1.0


def test_equivalence_is_two_one_sided_tests() -> None:
    """Its p is the larger of the two one-sided ones."""
    found, bound = LogDifference(0.01, 0.02, 9.0), math.log1p(0.05)
    below = stats.t.sf((0.01 + bound) / 0.02, 9)
    above = stats.t.cdf((0.01 - bound) / 0.02, 9)
    assert found.equivalence_p(0.05) == pytest.approx(max(below, above))


def test_no_noise_means_certainty() -> None:
    """A difference without noise is certain, the rounding of floats is none."""
    assert LogDifference(0.01, 0.0, 5).p == 0.0
    assert LogDifference(1e-14, 1e-16, 5).p == 1.0
    assert LogDifference(0.01, 0.0, 5).equivalence_p(0.05) == 0.0
    assert LogDifference(0.2, 0.0, 5).equivalence_p(0.05) == 1.0


def test_interval_holds_the_effect_and_excludes_zero_exactly_when_significant() -> None:
    """Interval and p say the same."""
    for difference in np.linspace(-0.2, 0.2, 21):
        found = LogDifference(float(difference), 0.05, 7.3)
        low, high = found.interval(0.05)
        assert low <= relative(found.difference) <= high
        assert (low > 0 or high < 0) == (found.p < 0.05)


def test_an_effect_beyond_floats_is_infinite() -> None:
    """An interval so wide that it overflows is open."""
    assert LogDifference(0.0, 100.0, 1.0).interval(0.05) == (pytest.approx(-1.0), math.inf)


def test_components_without_variance_combine_to_none() -> None:
    """No variance at all is no error, and no division by zero."""
    assert welch_satterthwaite([(0.0, 4.0), (0.0, 4.0)]) == (0.0, 8.0)
