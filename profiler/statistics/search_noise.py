"""The noise of a search, estimated from all its rounds, and the screening that knows it.

A search compares rounds, and every round is one deployment: what differs between two of them is the configuration and
how the machine drifted in between, and no number of windows within the rounds tells the two apart. With a drift of
5–10 % plain Welch is wrong in 20–40 % of the cases. Measuring everything twice would tell, at twice the time. But the
speed index sees the same machine and knows nothing of configurations, so its own variation between rounds does:

    λ = variance of the index between rounds / variance of its windows within rounds
    between_round_sd² = λ · variance of normalised log throughput within rounds

that is, what the index leaves unexplained is taken to drift as much, relative to its windows, as the index does.
After k rounds λ is known with k − 1 degrees of freedom, poorly at first. It is therefore pooled with what was seen on
real machines, a drift of 7 % at windows of 12 % (λ = 1/3), weighing as much as two rounds more; likewise the lag-1
correlation with 0.4, weighing as much as 20 windows. The degrees of freedom of the pooled λ follow from the variances
of its parts (Satterthwaite), and so does the test's.

Measured with 10 windows a round, 3000 screenings each, with the noise of the simulated engine's presets:

    rounds so far                                2        4        8      pooled correlation alone
    shared, false alarms                       4.3 %    4.0 %    4.6 %    22, 22, 20 %
    shared, power for +5 %                       8 %      8 %     10 %
                      +10 %                     20 %     20 %     24 %
                      +20 %                     55 %     58 %     64 %
    quiet, false alarms                        0.0 %    0.0 %    0.6 %    1.8, 2.2, 2.2 %
    quiet, power for +5 %                       57 %     78 %     91 %    87, 91, 92 %: the price of caution
                     +10 %                      99 %    100 %    100 %

An index that explains 5 % only leaves 4.3 % false alarms; a lag-1 of 0.6 instead of 0.4 makes them 6 %.
Where throughput drifts and the index does not, the pooled λ is too small and false alarms rise: that is why a claim
is confirmed with interleaved blocks, which assume nothing of the kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from profiler.statistics.control_variate import Windows, has_index, normalised, speed_slope
from profiler.statistics.correlation import effective_size, pooled_lag1, window_variance
from profiler.statistics.result import Comparison
from profiler.statistics.screening import RELEVANT_EFFECT, screen
from profiler.statistics.student import LOG_ROUNDING

_USUAL_DRIFT_RATIO = 1 / 3
_USUAL_DRIFT_WEIGHT = 2.0
"""In rounds."""
_USUAL_CORRELATION = 0.4
_USUAL_CORRELATION_WEIGHT = 20.0
"""In windows."""
_OUTLYING = 4.0
"""Pooled over rounds, the variance of windows is at the most so many times the median round's. Waiting tasks once went
from 84 to 420 rows/s and nobody believed it, as the round before them held windows of 36, 381 and 1,381 rows/s."""


@dataclass(frozen=True, slots=True)
class RoundWindows:
    """The windows of one search round at stress."""

    values: tuple[float, ...]
    speed_index: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchNoise:
    """What the rounds of a search tell about their noise; standard deviations are of logs."""

    correlation: float
    """Lag-1, of windows normalised by the speed index."""
    speed_slope: float
    window_sd: float
    """Of normalised windows within a round."""
    between_round_sd: float
    """Of normalised round means, by drift alone."""
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
