"""The screening test of two rounds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from noisy import autoregression
from scipy import stats

from profiler.statistics.doubt import Doubt
from profiler.statistics.result import Verdict
from profiler.statistics.screening import screen

OPPOSITE = {Verdict.INCREASED: Verdict.DECREASED, Verdict.DECREASED: Verdict.INCREASED}
windows = st.lists(st.floats(100, 100_000), min_size=2, max_size=12)
correlations = st.floats(0, 0.9)


def lognormal(seed: int, n: int, level: float, cv: float) -> list[float]:
    return list(level * np.exp(np.random.default_rng(seed).normal(scale=cv, size=n)))


def test_uncorrelated_windows_are_tested_by_scipys_welch_on_logs() -> None:
    """Without correlation and drift p, effect and interval are scipy's."""
    reference, candidate = lognormal(1, 10, 1000, 0.05), lognormal(2, 7, 1050, 0.1)
    expected = stats.ttest_ind(np.log(candidate), np.log(reference), equal_var=False)
    interval = expected.confidence_interval(0.95)
    found = screen(reference, candidate)
    assert found.p == pytest.approx(expected.pvalue)
    assert (found.low, found.high) == pytest.approx((math.expm1(interval.low), math.expm1(interval.high)))
    assert found.effect == pytest.approx(math.expm1(np.mean(np.log(candidate)) - np.mean(np.log(reference))))
    assert (found.test, found.n_reference, found.n_candidate) == ("welch", 10, 7)


@given(reference=windows, candidate=windows, correlation=correlations)
def test_swapping_the_rounds_turns_the_verdict_around(
    reference: list[float], candidate: list[float], correlation: float
) -> None:
    """Increased one way is decreased the other way, with the same p."""
    there = screen(reference, candidate, correlation=correlation)
    back = screen(candidate, reference, correlation=correlation)
    assert back.verdict is OPPOSITE.get(there.verdict, there.verdict)
    assert back.p == pytest.approx(there.p)


@given(reference=windows, candidate=windows, scale=st.floats(1e-3, 1e3))
def test_the_unit_of_throughput_does_not_matter(reference: list[float], candidate: list[float], scale: float) -> None:
    """Rows per second and rows per hour give the same effect, p and interval."""
    plain = screen(reference, candidate)
    scaled = screen([scale * value for value in reference], [scale * value for value in candidate])
    assert scaled.p == pytest.approx(plain.p, abs=1e-6)
    assert scaled.effect == pytest.approx(plain.effect, rel=1e-6, abs=1e-9)
    assert scaled.detectable_effect == pytest.approx(plain.detectable_effect, rel=1e-6, abs=1e-9)


@given(reference=windows, candidate=windows, low=correlations, high=correlations)
def test_correlation_widens_the_interval(
    reference: list[float], candidate: list[float], low: float, high: float
) -> None:
    """The more the windows are correlated, the less they tell."""
    low, high = sorted((low, high))
    narrow = screen(reference, candidate, correlation=low)
    wide = screen(reference, candidate, correlation=high)
    assert wide.low <= narrow.low + 1e-9
    assert wide.high >= narrow.high - 1e-9 * (1 + narrow.high)


def test_drift_between_rounds_widens_the_interval() -> None:
    """A known drift enters the error, more so if it is known poorly."""
    rounds = lognormal(3, 10, 1000, 0.03), lognormal(4, 10, 1100, 0.03)
    steady = screen(*rounds)
    drifting = screen(*rounds, between_round_sd=0.07)
    unsure = screen(*rounds, between_round_sd=0.07, between_round_df=2)
    assert steady.detectable_effect < drifting.detectable_effect < unsure.detectable_effect
    assert (steady.verdict, unsure.verdict) == (Verdict.INCREASED, Verdict.UNCHANGED)


def test_an_effect_below_the_relevant_one_is_no_change() -> None:
    """Two percent, however certain, are not worth a move."""
    reference, candidate = lognormal(5, 10, 1000, 0.001), lognormal(6, 10, 1020, 0.001)
    found = screen(reference, candidate)
    assert found.p < 1e-6
    assert found.verdict is Verdict.UNCHANGED
    assert screen(reference, candidate, relevant_effect=0.01).verdict is Verdict.INCREASED


@pytest.mark.parametrize(
    ("level", "verdict"), [(1000.0, Verdict.UNCHANGED), (1500.0, Verdict.INCREASED), (500.0, Verdict.DECREASED)]
)
def test_windows_without_noise_are_judged_without_a_warning(level: float, verdict: Verdict) -> None:
    """Simulated runs may be exactly constant: the difference decides."""
    found = screen([1000.0] * 10, [level] * 10, correlation=0.4)
    assert found.verdict is verdict
    assert found.detectable_effect == pytest.approx(0.03)
    assert found.low == pytest.approx(found.high)


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [([], []), ([1.0, 2.0], [3.0]), ([1.0, 2.0], [0.0, 3.0]), ([-1.0, 2.0], [1.0, 3.0])],
    ids=["nothing", "one window", "no throughput", "negative"],
)
def test_what_cannot_be_tested_is_inconclusive(reference: Sequence[float], candidate: Sequence[float]) -> None:
    """Too few windows, or windows without throughput, give no verdict and say so."""
    found = screen(reference, candidate)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert Doubt.TOO_FEW_WINDOWS in found.warnings
    assert found.p == 1.0


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("rho", [0.4, 0.8])
def test_a_26_fold_gain_is_found_with_few_correlated_windows(n: int, rho: float) -> None:
    """Degrees of freedom do not collapse: on logs the gain is found in nearly every case."""
    rng = np.random.default_rng(7)
    found = 0
    for _ in range(100):
        reference = 1000 * np.exp(autoregression(rng, n, 0.12, rho))
        candidate = 26_000 * np.exp(autoregression(rng, n, 0.12, rho))
        found += screen(list(reference), list(candidate), correlation=rho).verdict is Verdict.INCREASED
    assert found >= (85 if n == 2 else 99)


def test_false_alarms_of_correlated_windows_stay_near_five_percent() -> None:
    """With the true correlation given, the effective size holds what plain Welch does not."""
    rng = np.random.default_rng(8)
    plain = corrected = 0
    for _ in range(300):
        reference, candidate = (list(np.exp(autoregression(rng, 10, 0.12, 0.4))) for _ in range(2))
        plain += screen(reference, candidate).verdict is not Verdict.UNCHANGED
        corrected += screen(reference, candidate, correlation=0.4).verdict is not Verdict.UNCHANGED
    assert plain > 40
    assert corrected < 26


def test_an_outlier_brings_a_warning_and_mann_whitneys_p() -> None:
    """Where a window is far off, the t-test is doubtful and the rank test is shown beside it."""
    reference = lognormal(9, 10, 1000, 0.02)
    candidate = [*lognormal(10, 9, 1000, 0.02), 10.0]
    found = screen(reference, candidate)
    assert found.warnings == (Doubt.NOT_NORMAL,)
    assert found.mann_whitney_p == pytest.approx(stats.mannwhitneyu(reference, candidate).pvalue)
    assert screen(reference, reference).mann_whitney_p is None


def test_the_comparison_names_its_correlation() -> None:
    """What the test assumed can be read from its result."""
    rounds = lognormal(11, 5, 1, 0.1), lognormal(12, 5, 1, 0.1)
    assert screen(*rounds, correlation=0.3).correlation == 0.3
