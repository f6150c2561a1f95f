"""The end of warm-up."""

from __future__ import annotations

import numpy as np
import pytest
from noisy import autoregression

from profiler.statistics.stationarity import steady_start


def warm_up(n: int, tau: float) -> np.ndarray:
    """Return logs of a throughput that converges from 3 % to 100 %."""
    return np.log(1 - 0.97 * np.exp(-np.arange(n) / tau))


def until_steady(logs: np.ndarray, windows: int = 10) -> tuple[int, int]:
    """Ask after every window until enough follow the start; return start and end."""
    for end in range(1, len(logs) + 1):
        start = steady_start(list(1000 * np.exp(logs[:end])))
        if start is not None and end - start >= windows:
            return start, end
    pytest.fail("never steady")


def test_a_constant_series_is_steady_from_its_first_window() -> None:
    """Nothing to cut."""
    assert steady_start([1000.0] * 10) == 0


def test_a_jump_is_cut() -> None:
    """The steady part starts after it."""
    assert steady_start([10.0, 200.0, 990.0, 1010.0, 1000.0, 995.0, 1005.0, 1000.0]) == 2


def test_a_series_that_still_rises_is_not_steady() -> None:
    """Growing by a third in each window."""
    assert steady_start([1000 * 1.33**i for i in range(12)]) is None


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_three_windows_are_too_few_to_tell(n: int) -> None:
    """Whatever they are."""
    assert steady_start([1000.0] * n) is None


def test_windows_without_throughput_belong_to_the_warm_up() -> None:
    """A job that has not started yet is not steady, however constant its zero."""
    assert steady_start([0.0] * 10) is None
    assert steady_start([0.0, 500.0, 0.0, *[1000.0] * 6]) == 3
    assert steady_start([0.0, 0.0, 1000.0, 1000.0, 1000.0]) is None


def test_the_unit_does_not_matter() -> None:
    """Rows per second or per hour."""
    values = np.exp(autoregression(np.random.default_rng(1), 15, 0.1, 0.4) + warm_up(15, 1.0))
    assert steady_start(list(values)) == steady_start(list(3600 * values))


def test_a_warm_up_without_noise_ends_where_little_is_left() -> None:
    """Without noise the last percent is not waited for."""
    start, end = until_steady(warm_up(40, 2.0))
    assert np.expm1(warm_up(40, 2.0)[start:end].mean()) > -0.01
    assert end < 22


@pytest.mark.parametrize(("cv", "rho"), [(0.02, 0.0), (0.12, 0.4), (0.19, 0.4)])
def test_noise_alone_costs_few_windows(cv: float, rho: float) -> None:
    """Where there is no warm-up, fewer than two windows are cut on average."""
    rng = np.random.default_rng(2)
    ends = [until_steady(autoregression(rng, 60, cv, rho)) for _ in range(100)]
    assert np.mean([start for start, _ in ends]) < 2
    assert np.mean([end for _, end in ends]) < 13


@pytest.mark.parametrize(("cv", "rho", "bias"), [(0.025, 0.1, 0.005), (0.12, 0.4, 0.015), (0.19, 0.4, 0.025)])
def test_the_warm_up_of_a_query_in_a_warm_session_is_cut(cv: float, rho: float, bias: float) -> None:
    """Two to three windows of warm-up leave less bias than ten windows have noise."""
    rng = np.random.default_rng(3)
    shape = warm_up(60, 0.7)
    left = []
    for _ in range(100):
        start, end = until_steady(shape + autoregression(rng, 60, cv, rho))
        left.append(-np.expm1(shape[start:end].mean()))
    assert np.mean(left) < bias
    assert max(left) < 0.15


def test_a_slow_warm_up_of_a_new_session_is_mostly_cut() -> None:
    """Ten windows of warm-up on a shared machine: what is left is below the noise."""
    rng = np.random.default_rng(4)
    shape = warm_up(60, 3.0)
    left = []
    for _ in range(100):
        start, end = until_steady(shape + autoregression(rng, 60, 0.12, 0.4))
        left.append(-np.expm1(shape[start:end].mean()))
    assert np.mean(left) < 0.07
    assert -np.expm1(shape[:10].mean()) > 0.4
