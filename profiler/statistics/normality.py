"""Normality of log windows: Lilliefors' test, and Mann-Whitney's p where it rejects.

Lilliefors' test is Kolmogorov-Smirnov with estimated mean and deviation. Its null distribution depends on the sample
size alone, so scipy's Monte-Carlo goodness-of-fit draws it once per size, from a fixed seed, and every later test of
that size only looks it up. Correlated windows are not what the test was made for, but they make it reject no more often
than its level (scripts/benches/results/statistics.md), so nothing is corrected.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from profiler.statistics.holm import holm
from profiler.statistics.student import LOG_ROUNDING

_FEWEST = 4
"""The fewest values that are tested: below four the statistic hardly varies."""
_SAMPLES = 4999


def lilliefors_p(values: Sequence[float] | NDArray[np.float64]) -> float:
    """Return the p of normality with estimated parameters; 1 where there is nothing to test."""
    sample = np.asarray(values, dtype=np.float64)
    if len(sample) < _FEWEST or np.ptp(sample) < LOG_ROUNDING:
        return 1.0
    null = _null_distribution(len(sample))
    return float(1 + np.count_nonzero(null >= _kolmogorov_distance(sample))) / (1 + len(null))


def mann_whitney_where_not_normal(
    reference: NDArray[np.float64], candidate: NDArray[np.float64], alpha: float = 0.05, *, paired: bool = False
) -> float | None:
    """Return Mann-Whitney's p if what a t-test took for normal is not, else None.

    That is either sample (Holm over the two tests), or the differences of pairs, of which the ranks make no use.
    """
    tested = (candidate - reference,) if paired else (reference, candidate)
    if min(holm([lilliefors_p(sample) for sample in tested])) >= alpha:
        return None
    return float(stats.mannwhitneyu(reference, candidate).pvalue)


def _kolmogorov_distance(sample: NDArray[np.float64]) -> float:
    """Return the largest distance between the sample's distribution and the normal one of its mean and deviation."""
    below = special.ndtr(np.sort(sample - sample.mean()) / sample.std(ddof=1))
    steps = np.arange(len(sample) + 1) / len(sample)
    return float(max(np.max(steps[1:] - below), np.max(below - steps[:-1])))


@cache
def _null_distribution(n: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(n)
    fit = stats.goodness_of_fit(stats.norm, rng.normal(size=n), statistic="ks", n_mc_samples=_SAMPLES, rng=rng)
    return np.asarray(fit.null_distribution, dtype=np.float64)
