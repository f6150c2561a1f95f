"""The noise of a search, estimated from all its rounds, and the screening that knows it.

A search compares rounds, and every round is one deployment: what differs between two of them is the configuration and
how the machine drifted in between, and no number of windows within the rounds tells the two apart. Under such a drift
plain Welch cries wolf. Measuring everything twice would tell, at twice the time. But the speed index sees the same
machine and knows nothing of configurations, so its own variation between rounds does:

    λ = variance of the index between rounds / variance of its windows within rounds
    between_round_sd² = λ · variance of normalised log throughput within rounds

that is, what the index leaves unexplained is taken to drift as much, relative to its windows, as the index does.
After k rounds λ is known with k − 1 degrees of freedom, poorly at first. It is therefore pooled with its usual value on
real machines, which weighs as much as two rounds more; likewise the lag-1 correlation with its usual value, which
weighs as much as 20 windows. The degrees of freedom of the pooled λ follow from the variances of its parts
(Satterthwaite), and so does the test's.

The test keeps its level on shared machines, at the price of power on quiet ones; how much of both is in
scripts/benches/results/statistics.md. Where throughput drifts and the index does not, the pooled λ is too small and
false alarms rise: that is why a claim is confirmed with interleaved blocks, which assume nothing of the kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from profiler.statistics.control_variate import Windows, has_index, normalised, speed_slope
from profiler.statistics.correlation import effective_size, pooled_lag1, window_variance
from profiler.statistics.result import RELEVANT_EFFECT, Comparison
from profiler.statistics.screening import screen
from profiler.statistics.student import LOG_ROUNDING

_USUAL_DRIFT_RATIO = 1 / 3
_USUAL_DRIFT_WEIGHT = 2.0
"""Rounds that the usual drift weighs as much as."""
_USUAL_CORRELATION = 0.4
_USUAL_CORRELATION_WEIGHT = 20.0
"""Windows that the usual correlation weighs as much as."""
_OUTLYING = 4.0
"""The most that the pooled variance of windows may be, in times the median round's: one round with a few wild windows
must not hide what all others show (scripts/benches/results/statistics.md)."""


@dataclass(frozen=True, slots=True)
class RoundWindows:
    """The windows of one search round at stress."""

    values: tuple[float, ...]
    speed_index: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchNoise:
    """What the rounds of a search tell about their noise; standard deviations are of logs."""

    correlation: float
    """Lag-1 correlation of windows normalised by the speed index."""
    speed_slope: float
    window_sd: float
    """Standard deviation of normalised windows within a round."""
    between_round_sd: float
    """Standard deviation of normalised round means, by drift alone."""
    between_round_df: float


def search_noise(rounds: Sequence[Windows]) -> SearchNoise:
    """Estimate the noise of a search from its rounds; rounds that hold a window without throughput are left out."""
    usable = [run for run in rounds if len(run.values) >= 2 and min(run.values) > 0]
    slope = speed_slope(usable)
    values = [normalised(run, slope) for run in usable]
    correlation = _pooled_correlation(values)
    variance = _usual_variance([np.log(run) for run in values], correlation) if values else 0.0
    ratio, freedom = _drift_ratio([run.speed_index for run in usable if has_index(run)])
    return SearchNoise(
        correlation=correlation,
        speed_slope=slope,
        window_sd=float(np.sqrt(variance)),
        between_round_sd=float(np.sqrt(ratio * variance)),
        between_round_df=freedom,
    )


def screen_round(
    reference: RoundWindows,
    candidate: RoundWindows,
    history: Sequence[RoundWindows],
    *,
    alpha: float = 0.05,
    relevant_effect: float = RELEVANT_EFFECT,
) -> Comparison:
    """Screen one round of a search against another, with the noise of all its rounds so far.

    `history` are the rounds measured at stress, whether or not these two are among them: a round at a lower rate
    repeats the rate, not the machine.
    """
    noise = search_noise(list(dict.fromkeys((reference, candidate, *history))))
    return screen(
        normalised(reference, noise.speed_slope),
        normalised(candidate, noise.speed_slope),
        correlation=noise.correlation,
        between_round_sd=noise.between_round_sd,
        between_round_df=noise.between_round_df,
        alpha=alpha,
        relevant_effect=relevant_effect,
    )


def _pooled_correlation(series: Sequence[Sequence[float]]) -> float:
    windows = sum(len(run) for run in series)
    usual = _USUAL_CORRELATION_WEIGHT
    return (windows * pooled_lag1(series) + usual * _USUAL_CORRELATION) / (windows + usual)


def _usual_variance(logs: Sequence[npt.NDArray[np.float64]], correlation: float) -> float:
    """Pool the windows' variance over rounds; one that was still on its way up must not hide all others."""
    each = [window_variance([run], correlation) for run in logs]
    return min(window_variance(logs, correlation), _OUTLYING * float(np.median(each)))


def _drift_ratio(indices: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return λ, pooled with its usual value, and its degrees of freedom."""
    seen = len(indices) - 1
    if seen < 1:
        return _USUAL_DRIFT_RATIO, _USUAL_DRIFT_WEIGHT
    correlation = _pooled_correlation(indices)
    logs = [np.log(run) for run in indices]
    within = window_variance(logs, correlation)
    between = float(np.var([run.mean() for run in logs], ddof=1))
    # A round's mean varies by drift and by its windows; a constant index has neither and says that nothing drifts.
    means = between / within if within > LOG_ROUNDING**2 else 0.0
    by_windows = float(np.mean([1 / effective_size(len(run), correlation) for run in logs]))
    ratio, weight = max(0.0, means - by_windows), _USUAL_DRIFT_WEIGHT
    pooled = (weight * _USUAL_DRIFT_RATIO + seen * ratio) / (weight + seen)
    spread = (weight * _USUAL_DRIFT_RATIO**2 + seen * means**2) / (weight + seen) ** 2
    return pooled, max(1.0, pooled**2 / spread)
