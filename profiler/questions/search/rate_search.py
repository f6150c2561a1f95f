"""Which rate to try next, on the way to the highest one that holds; pure.

A rate either held in every batch in which it was tried, or it did not. Rates are those of the machine at its usual
speed: what did not hold while it was slower says nothing of them. The search goes up while all rates held, down while
none did, and then in between: where the queue grew, what came through tells where the limit is; else by halving. It
ends when the rate that held is close to the one that did not, or to what came through at it, and has held twice, as a
single batch may have been lucky.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from profiler.questions.search.verification import Verification

UP = 1.1
"""The factor to the next rate while all held, squared each time: long batches lose less of their time to pauses than a
search's windows, so more than the search saw may hold."""
MOST_UP = 2.0
"""The largest such factor."""
DOWN = 0.8
"""The factor to the next rate while none held and the queue did not grow: the latency alone was too long."""
NEAR = 0.95
"""The factor to the next rate where the lowest one held in one batch and not in another: it is near the limit."""
BELOW = 0.99
"""Part of what came through that is tried, where the queue grew."""
PRECISION = 0.02
"""How much higher the lowest rate that did not hold may be than the highest that did, for the search to end."""
LEAST = 0.05
"""Part of the first rate below which no rate is tried."""
LOOKS = 2
"""Batches in which the rate that is announced has held."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """What the batches so far say of the highest rate that holds."""

    held_per_s: float | None
    """Highest rate that counts as held; None where none does."""
    failed_per_s: float
    """Lowest rate above it that did not hold; infinite where all did."""

    @classmethod
    def of(cls, probes: Sequence[Verification]) -> Bracket:
        """Read it off the batches: the limit lies where the fewest of them contradict it; in doubt, lower."""
        held = sorted(probe.usual_per_s for probe in probes if probe.passed)
        failed = [probe.usual_per_s for probe in probes if not probe.passed]

        def agreeing(limit_per_s: float) -> int:
            return sum(rate <= limit_per_s for rate in held) + sum(rate > limit_per_s for rate in failed)

        limit_per_s = max((0.0, *held), key=agreeing)
        above = min((rate for rate in failed if rate > limit_per_s), default=math.inf)
        return cls(limit_per_s or None, above)


def next_rate(probes: Sequence[Verification], start_per_s: float) -> float | None:
    """Return the rate of the next batch; None where the search is over."""
    if not probes:
        return start_per_s
    bracket = Bracket.of(probes)
    if bracket.held_per_s is None:
        lower_per_s = _below(_failed(probes, bracket), probes)
        return lower_per_s if lower_per_s >= LEAST * start_per_s else None
    if bracket.failed_per_s == math.inf:
        up = min(math.pow(UP, math.pow(2, len(probes) - 1)), MOST_UP)
        return up * bracket.held_per_s
    failed = _failed(probes, bracket)
    if _limit(failed) > (1 + PRECISION) * bracket.held_per_s:
        return _between(bracket.held_per_s, failed)
    looks = sum((1 + PRECISION) * probe.usual_per_s >= bracket.held_per_s for probe in probes if probe.passed)
    return bracket.held_per_s if looks < LOOKS else None


def _failed(probes: Sequence[Verification], bracket: Bracket) -> Verification:
    """Return the last batch of the lowest rate that did not hold."""
    return next(each for each in reversed(probes) if each.usual_per_s == bracket.failed_per_s and not each.passed)


def _limit(failed: Verification) -> float:
    """Return what bounds the rates that may hold: where the queue grew, the job has shown all that it can do."""
    return min(failed.usual_per_s, failed.usually_through_per_s) if failed.queue_grew else failed.usual_per_s


def _below(failed: Verification, probes: Sequence[Verification]) -> float:
    """Return the rate to try below the lowest one so far, which did not hold."""
    if any(probe.passed and (1 + PRECISION) * probe.usual_per_s >= failed.usual_per_s for probe in probes):
        return NEAR * failed.usual_per_s
    if not failed.queue_grew:
        return DOWN * failed.usual_per_s
    return BELOW * _limit(failed)


def _between(held_per_s: float, failed: Verification) -> float:
    """Return a rate between one that held and one that did not, not too near to either."""
    margin = (failed.usual_per_s - held_per_s) / 4
    likely = BELOW * _limit(failed) if failed.queue_grew else math.sqrt(held_per_s * failed.usual_per_s)
    return min(max(likely, held_per_s + margin), failed.usual_per_s - margin)
