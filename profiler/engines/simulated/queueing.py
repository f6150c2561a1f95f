"""The simulator's own queue: Lindley's recursion over sampled rows, for many tasks at once.

A row that finds W seconds of work before it waits that long; the next row, arriving A after it, finds
W' = max(0, W + S - A), where S is this row's service. Unrolled over rows, with C the running sum of S - A,

    W'_n = max(W_0 + C_n, C_n - min(C_0 … C_n))

which numpy computes without a loop. A bounded queue blocks its upstream: no row waits longer than a full one takes.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from profiler.experiment.latency_rows import Floats


class Spread(StrEnum):
    """The way in which a time varies from row to row around its mean."""

    CONSTANT = "constant"
    ERLANG = "erlang"
    """The sum of four exponential phases, with a coefficient of variation of 0.5: most code."""
    EXPONENTIAL = "exponential"

    @property
    def cv(self) -> float:
        """Coefficient of variation."""
        return {Spread.CONSTANT: 0.0, Spread.ERLANG: 0.5, Spread.EXPONENTIAL: 1.0}[self]

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Draw factors with mean 1."""
        if self is Spread.CONSTANT:
            return np.ones(shape)
        if self is Spread.ERLANG:
            return rng.standard_gamma(4.0, shape) / 4.0
        return rng.standard_exponential(shape)


def queue_waits(gaps_s: Floats, services_s: Floats, first_wait_s: Floats, limit_s: Floats) -> tuple[Floats, Floats]:
    """Return how long each row waits (tasks × rows), and how long the row after the last would.

    `gaps_s[:, n]` is the time from the arrival of row n to that of row n + 1, `first_wait_s` what row 0 finds,
    `limit_s` the wait in a full queue.
    """
    total = np.cumsum(services_s - gaps_s, axis=1)
    after = np.maximum(first_wait_s[:, None] + total, total - np.minimum.accumulate(total, axis=1))
    after = np.minimum(after, limit_s[:, None])
    waits = np.concatenate((first_wait_s[:, None], after[:, :-1]), axis=1)
    return waits, after[:, -1]
