"""The speed index as a control variate: what of a window's log throughput the machine's own speed explains.

normalised log throughput = log throughput − slope · log speed index

The slope (an elasticity: 1 for a job bound by CPU, 0 for one bound by waiting) is estimated from the windows'
deviations from their own run's mean, pooled over runs. These say nothing about the means themselves, so a test on
normalised run means keeps its error rate although the slope was estimated from the same windows. It is shrunk by the
positive part of 1 − 1/F (F: the slope's own test statistic): an index that explains nothing gets a slope near 0 and
hardly adds variance. A slope below 0, a job that runs faster on a slower machine, is chance and taken as 0; one above
1.5 likewise: two short rounds can show far more, and would turn a machine that lost a quarter into a gain of half.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from profiler.statistics.student import LOG_ROUNDING

STEEPEST = 1.5
"""The largest slope that is believed."""


class Windows(Protocol):
    """The windows of one deployment: what was measured in each, and the speed index (empty: not known)."""

    @property
    def values(self) -> Sequence[float]:
        """Throughput, or another positive quantity, of each window."""

    @property
    def speed_index(self) -> Sequence[float]:
        """Speed index of each window; empty where there is none."""


def has_index(run: Windows) -> bool:
    """Tell whether every window of the run has a usable speed index."""
    return len(run.speed_index) == len(run.values) and all(speed > 0 for speed in run.speed_index)


def speed_slope(runs: Iterable[Windows]) -> float:
    """Estimate the slope of log value on log speed index within runs, shrunk so that it does not add variance."""
    xx = xy = yy = 0.0
    freedom = -1
    for run in runs:
        if not has_index(run) or any(value <= 0 for value in run.values):
            continue
        x, y = np.log(run.speed_index), np.log(run.values)
        x, y = x - x.mean(), y - y.mean()
        xx += float(x @ x)
        xy += float(x @ y)
        yy += float(y @ y)
        freedom += len(x) - 1
    if freedom < 1 or xy <= LOG_ROUNDING**2:
        return 0.0
    explained = min(xy**2 / (xx * yy), 1.0)
    return min(STEEPEST, xy / xx * max(0.0, 1 - (1 - explained) / (explained * freedom)))


def normalised(run: Windows, slope: float) -> tuple[float, ...]:
    """Return the values as they would have been at speed 1; a run without an index is returned as it is."""
    if not slope or not has_index(run):
        return tuple(run.values)
    return tuple(value / speed**slope for value, speed in zip(run.values, run.speed_index, strict=True))
