"""Correlation of consecutive windows, and how many independent windows a run of them is worth.

The windows of one run are modelled as a first-order autoregression: with R the correlation matrix R_ij = ρ^|i−j| and Q
the matrix that subtracts a run's mean,

    variance of the run's mean   σ² · 1ᵀR1 / n²          = σ² / effective size
    sum of squared deviations    σ² · tr(QR)             on average
    its degrees of freedom       tr(QR)² / tr(QRQR)      (Satterthwaite)

These are exact for any n. The common n·(1 − ρ)/(1 + ρ) for the size and size − 1 for the degrees of freedom collapse
below 1 for few windows, and such a test misses the largest gains (scripts/benches/results/statistics.md); here the
degrees of freedom never fall below 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import toeplitz

HIGHEST = 0.95
"""The highest correlation that is estimated: nearer to 1 a run would be worth one window, whatever its length."""
_SHORTEST_RUN = 3
"""The fewest windows of a run that tells anything: two have a lag-1 correlation of −0.5, always."""
_GRID = np.linspace(0.0, HIGHEST, 96)


def effective_size(n: int, rho: float) -> float:
    """Return how many independent windows the mean of n windows with lag-1 correlation rho is worth: 1 to n."""
    return float(n**2 / _autoregression(n, rho).sum())


def mean_variance(logs: NDArray[np.float64], rho: float) -> tuple[float, float]:
    """Estimate the variance of a run's mean and the degrees of freedom of that estimate, without bias for any rho.

    With rho = 0 this is the textbook's s²/n with n − 1 degrees of freedom.
    """
    n = len(logs)
    return window_variance([logs], rho) / effective_size(n, rho), variance_freedom(n, rho)


def variance_freedom(n: int, rho: float) -> float:
    """Return the degrees of freedom of the variance of n correlated windows: 1 to n − 1."""
    product = _centred(n) @ _autoregression(n, rho)
    return float(np.trace(product) ** 2 / np.sum(product * product.T))


def window_variance(runs: Iterable[NDArray[np.float64]], rho: float) -> float:
    """Estimate the variance of a single window around its run's mean, pooled over runs."""
    squares = total = 0.0
    for logs in runs:
        squares += float(np.sum((logs - logs.mean()) ** 2))
        total += float(np.sum(_centred(len(logs)) * _autoregression(len(logs), rho)))
    return squares / total


def pooled_lag1(series: Iterable[Sequence[float]]) -> float:
    """Estimate the lag-1 correlation of log windows, pooled over runs, corrected for bias, within [0, 0.95].

    Each run's own mean is subtracted, which pulls the plain ratio r = Σ d_t·d_{t+1} / Σ d_t² down. The usual
    (r + 1/n)/(1 − 4/n) is a large-n formula for one run, and answers too much for few windows
    (scripts/benches/results/statistics.md). As the expectations of both sums are known (tr(QAQR) with A the shift, and
    tr(QR)), the pooled ratio is inverted exactly instead, for any mixture of lengths from 3 on.
    Runs that are shorter, or hold a window without throughput, tell nothing and are left out; 0 if none is left.
    """
    products = squares = 0.0
    expected_products = np.zeros_like(_GRID)
    expected_squares = np.zeros_like(_GRID)
    for run in series:
        values = np.asarray(run, dtype=np.float64)
        if len(values) < _SHORTEST_RUN or not np.all(values > 0):
            continue
        deviations = np.log(values)
        deviations = deviations - deviations.mean()
        products += float(deviations[1:] @ deviations[:-1])
        squares += float(deviations @ deviations)
        of_products, of_squares = _expected_sums(len(values))
        expected_products += of_products
        expected_squares += of_squares
    if squares <= 0:
        return 0.0
    return float(np.interp(products / squares, expected_products / expected_squares, _GRID))


@lru_cache(maxsize=256)
def _autoregression(n: int, rho: float) -> NDArray[np.float64]:
    return np.asarray(toeplitz(float(rho) ** np.arange(n)), dtype=np.float64)


def _centred(n: int) -> NDArray[np.float64]:
    return np.eye(n) - 1 / n


@cache
def _expected_sums(n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the expected sums of products and of squares of a run of n windows, for every rho of the grid."""
    centred = _centred(n)
    shifted = centred @ np.eye(n, k=1) @ centred
    matrices = [_autoregression(n, rho) for rho in _GRID]
    return (
        np.array([np.sum(shifted * matrix) for matrix in matrices]),
        np.array([np.sum(centred * matrix) for matrix in matrices]),
    )
