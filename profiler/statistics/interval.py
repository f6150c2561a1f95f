"""The confidence interval of a mean of correlated windows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from profiler.statistics.correlation import mean_variance


def mean_interval(values: Sequence[float], correlation: float = 0.0, confidence: float = 0.95) -> tuple[float, float]:
    """Return the t interval of the mean, wider the more the windows correlate; a single value has no width."""
    windows = np.asarray(values, dtype=np.float64)
    mean = float(windows.mean())
    if len(windows) < 2 or windows.max() == windows.min():
        return mean, mean
    variance, freedom = mean_variance(windows, correlation)
    low, high = stats.t.interval(confidence, freedom, loc=mean, scale=variance**0.5)
    return float(low), float(high)
