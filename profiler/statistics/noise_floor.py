"""The noise floor of a design before it is run: the smallest effect it finds with 80 % power."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

from profiler.statistics.student import LogDifference

_GOOD_DAY = 0.9
"""The probability that the noise is no smaller than foreseen."""


def confirmation_floor(
    block_sd: float, blocks: int, *, alpha: float = 0.05, relevant_effect: float = 0.0, paired: bool = False
) -> float:
    """Return the detectable effect of a confirmation of two arms with that many blocks in all.

    `block_sd` is the standard deviation of normalised log block means within an arm; of pairs, what is left of it when
    all that both blocks have in common is taken out.
    """
    per_arm = blocks / 2
    error = block_sd * math.sqrt(2 / per_arm)
    freedom = per_arm - 1 if paired else blocks - 2
    return LogDifference(0.0, error, freedom).detectable_effect(alpha, relevant_effect)


def foreseen_floor(
    values: Sequence[float],
    *,
    windows: int,
    blocks: int,
    alpha: float = 0.05,
    relevant_effect: float = 0.0,
    paired: bool = False,
) -> float:
    """Return what a confirmation would detect on a good day, from the windows of a single deployment.

    Their noise is read off successive differences, as a warm-up may linger in them, and off the median of those, as a
    window may have stalled; of six windows the deviation is known to a third. So the least noise that they allow for is
    taken: its lower 90 % bound, windows that are independent, deployments that do not differ. An effect below this
    floor is not worth measuring; one above it may still be missed.

    With correlated windows and deployments that differ, as simulated on shared machines, drills were refused on Spark
    that its blocks do find (scripts/benches/results/statistics.md).
    """
    steps = np.diff(np.log(values))
    if len(steps) < 1:
        return relevant_effect
    typical = float(np.median(np.abs(steps))) / stats.norm.ppf(0.75)
    variance = typical**2 / 2 * len(steps) / float(stats.chi2.ppf(_GOOD_DAY, len(steps)))
    block_sd = math.sqrt(variance / windows)
    return confirmation_floor(block_sd, blocks, alpha=alpha, relevant_effect=relevant_effect, paired=paired)
