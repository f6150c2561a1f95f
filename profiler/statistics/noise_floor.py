"""The noise floor of a design before it is run: the smallest effect it finds with 80 % power."""

from __future__ import annotations

import math

from profiler.statistics.correlation import effective_size, variance_freedom
from profiler.statistics.screening import RELEVANT_EFFECT
from profiler.statistics.search_noise import SearchNoise
from profiler.statistics.student import LogDifference, welch_satterthwaite


def screening_floor(
    noise: SearchNoise, windows: int, *, alpha: float = 0.05, relevant_effect: float = RELEVANT_EFFECT
) -> float:
    """Return the detectable effect of a screening of two rounds of that many windows, given the search's noise."""
    of_mean = noise.window_sd**2 / effective_size(windows, noise.correlation)
    freedom = variance_freedom(windows, noise.correlation)
    between = (2 * noise.between_round_sd**2, noise.between_round_df)
    error, freedom = welch_satterthwaite([(of_mean, freedom), (of_mean, freedom), between])
    return LogDifference(0.0, error, freedom).detectable_effect(alpha, relevant_effect)


def confirmation_floor(block_sd: float, blocks: int, *, alpha: float = 0.05, relevant_effect: float = 0.0) -> float:
    """Return the detectable effect of a confirmation of two arms with that many blocks in all.

    `block_sd` is the standard deviation of normalised log block means within an arm.
    """
    per_arm = blocks / 2
    error = block_sd * math.sqrt(2 / per_arm)
    return LogDifference(0.0, error, blocks - 2).detectable_effect(alpha, relevant_effect)
