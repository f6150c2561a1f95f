"""How thinly rows are sampled: often enough for a window's p99 to mean something, and no more than that; pure."""

from __future__ import annotations

SAMPLES_PER_WINDOW = 400
"""Sampled source rows that a window should hold: enough for its p99 to mean something."""
FEWEST_SAMPLED = 64
"""At high rates one row in this many is sampled, which costs nothing that could be seen."""


def sample_every(rate_per_s: float, window_s: float) -> int:
    """Choose how many rows there are for each sampled one: a power of four, so that small changes change nothing."""
    every = 1
    while every < FEWEST_SAMPLED and rate_per_s * window_s / (4 * every) >= SAMPLES_PER_WINDOW:
        every *= 4
    return every


def is_fitting(every: int, rate_per_s: float, window_s: float) -> bool:
    """Tell whether one row in so many is near enough to what would be chosen at a rate, as a change is a restart."""
    samples = rate_per_s * window_s / every
    too_few = samples < SAMPLES_PER_WINDOW / 4 and every > 1
    too_many = samples > SAMPLES_PER_WINDOW * 16 and every < FEWEST_SAMPLED
    return not (too_few or too_many)
