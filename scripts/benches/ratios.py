"""The mean of ratios of neighbours in time, with its 95 % interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from profiler.statistics.interval import mean_interval


def mean_ratio(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float | None, float | None]:
    """Return the geometric mean of the pairs' ratios and its t interval on logs; a single pair has none."""
    logs = np.log(np.asarray(ours) / np.asarray(theirs))
    middle = float(np.exp(logs.mean()))
    if len(logs) < 2:
        return middle, None, None
    low, high = np.exp(mean_interval(logs.tolist())).tolist()
    return middle, low, high
