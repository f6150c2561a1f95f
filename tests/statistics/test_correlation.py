"""Correlation of windows and what it makes of their number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from noisy import autoregression

from profiler.statistics.correlation import (
    effective_size,
    mean_variance,
    pooled_lag1,
    variance_freedom,
    window_variance,
)


@given(n=st.integers(1, 40), rho=st.floats(0, 0.95))
def test_windows_are_worth_between_one_and_all_of_them(n: int, rho: float) -> None:
    """Correlated windows never count for more than they are, and a run never for less than one."""
    assert 1 - 1e-9 <= effective_size(n, rho) <= n + 1e-9


def test_effective_size_without_correlation_is_the_number() -> None:
    """Independent windows all count."""
    assert effective_size(10, 0.0) == pytest.approx(10)


def test_effective_size_of_long_runs_is_the_textbooks() -> None:
    """For many windows it is n (1 − ρ) / (1 + ρ)."""
    assert effective_size(2000, 0.4) == pytest.approx(2000 * 0.6 / 1.4, rel=1e-3)


@given(n=st.integers(2, 30), rho=st.floats(0, 0.95))
def test_degrees_of_freedom_do_not_collapse(n: int, rho: float) -> None:
    """However strong the correlation, one degree of freedom is left, and never more than n − 1."""
    assert 1 - 1e-9 <= variance_freedom(n, rho) <= n - 1 + 1e-9


def test_mean_variance_of_independent_windows_is_the_textbooks() -> None:
    """Without correlation it is s²/n with n − 1 degrees of freedom."""
    logs = np.random.default_rng(1).normal(size=8)
    variance, freedom = mean_variance(logs, 0.0)
    assert variance == pytest.approx(logs.var(ddof=1) / 8)
    assert freedom == pytest.approx(7)


def test_variances_are_without_bias_for_correlated_windows() -> None:
    """Averaged over many runs, the variance of a window and of a run's mean are the true ones."""
    rng = np.random.default_rng(2)
    runs = [autoregression(rng, 6, 0.1, 0.5) for _ in range(4000)]
    assert window_variance(runs, 0.5) == pytest.approx(0.01, rel=0.05)
    estimated = np.mean([mean_variance(run, 0.5)[0] for run in runs])
    assert estimated == pytest.approx(np.var([run.mean() for run in runs]), rel=0.08)


@pytest.mark.parametrize("rho", [0.2, 0.4, 0.7])
@pytest.mark.parametrize("windows", [4, 5, 10])
def test_pooled_correlation_is_found_in_short_runs(windows: int, rho: float) -> None:
    """Many short runs tell the true correlation, although each run's own mean was subtracted."""
    rng = np.random.default_rng(3)
    runs = [np.exp(autoregression(rng, windows, 0.1, rho)) for _ in range(6000)]
    assert pooled_lag1(runs) == pytest.approx(rho, abs=0.05)


def test_pooled_correlation_agrees_with_the_published_correction_for_long_runs() -> None:
    """With 200 windows a run, (r + 1/n) / (1 − 4/n) says the same."""
    rng = np.random.default_rng(4)
    logs = [autoregression(rng, 200, 0.1, 0.4) for _ in range(20)]
    deviations = [run - run.mean() for run in logs]
    r = sum(d[1:] @ d[:-1] for d in deviations) / sum(d @ d for d in deviations)
    assert pooled_lag1(np.exp(run) for run in logs) == pytest.approx((r + 1 / 200) / (1 - 4 / 200), abs=0.01)


def test_pooled_correlation_ignores_levels() -> None:
    """Rounds of different configurations differ in level, which is no correlation."""
    rng = np.random.default_rng(5)
    runs = [level * np.exp(autoregression(rng, 10, 0.1, 0.0)) for level in np.geomspace(1, 1000, 400)]
    assert pooled_lag1(runs) < 0.05


@pytest.mark.parametrize(
    "series", [[], [(5.0, 5.0, 5.0)], [(1.0, 2.0)], [(1.0, 0.0, 2.0, 3.0)]], ids=["none", "constant", "short", "zero"]
)
def test_runs_that_tell_nothing_give_no_correlation(series: list[tuple[float, ...]]) -> None:
    """Constant, too short or broken runs are left out."""
    assert pooled_lag1(series) == 0.0
