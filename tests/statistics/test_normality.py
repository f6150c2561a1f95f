"""Normality, and its consequence."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from profiler.statistics.normality import lilliefors_p, mann_whitney_where_not_normal


@pytest.mark.parametrize("n", [6, 10, 20])
def test_the_p_is_that_of_scipys_goodness_of_fit(n: int) -> None:
    """The cached null distribution gives what a fresh Monte-Carlo run gives, within its error."""
    rng = np.random.default_rng(n)
    for scale in (0.1, 1.0):
        sample = np.exp(rng.normal(scale=scale, size=n))
        fresh = stats.goodness_of_fit(stats.norm, sample, statistic="ks", n_mc_samples=4999, rng=rng)
        assert lilliefors_p(sample) == pytest.approx(fresh.pvalue, abs=0.03)


def test_normal_samples_are_rejected_at_the_nominal_rate() -> None:
    """About 5 % of normal samples are rejected."""
    rng = np.random.default_rng(1)
    rejected = sum(lilliefors_p(rng.normal(size=10)) < 0.05 for _ in range(1000))
    assert 30 <= rejected <= 73


def test_a_skewed_sample_is_rejected() -> None:
    """The quantiles of an exponential distribution are not normal, those of a normal one are."""
    places = (np.arange(40) + 0.5) / 40
    assert lilliefors_p(stats.expon.ppf(places)) < 0.05
    assert lilliefors_p(stats.norm.ppf(places)) > 0.9


@pytest.mark.parametrize("values", [[], [1.0, 2.0, 9.0], [5.0] * 10], ids=["none", "three", "constant"])
def test_where_there_is_nothing_to_test_nothing_is_rejected(values: list[float]) -> None:
    """Too few or constant values are no evidence."""
    assert lilliefors_p(values) == 1.0


def test_mann_whitney_is_asked_only_where_normality_fails() -> None:
    """The rank test's p is scipy's."""
    places = (np.arange(20) + 0.5) / 20
    normal, skewed = stats.norm.ppf(places), stats.expon.ppf(places) ** 2
    assert mann_whitney_where_not_normal(normal, normal + 1) is None
    assert mann_whitney_where_not_normal(normal, skewed) == stats.mannwhitneyu(normal, skewed).pvalue
