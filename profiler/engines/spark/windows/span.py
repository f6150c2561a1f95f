"""Which part of a batch counts as a window, and what of the batch's rows belongs to it; pure.

A batch may have begun before anything was sent, and the rate that is to be measured may have been reached only after
that. Latency and what was offered are those of the time since then. But rows that were sent while the rate was
approached have come out as well, so throughput and work are those of the whole time in which the batch had rows:
divided by the time since the rate was reached, first windows show too much (scripts/benches/results/engine.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """The part of a batch that counts."""

    start_s: float
    end_s: float
    scale_s: float
    """Seconds that the window's amounts are taken over: they are the batch's own, times this, over the batch's
    duration."""

    @property
    def duration_s(self) -> float:
        """The duration of the window in seconds."""
        return self.end_s - self.start_s


def counted_span(start_s: float, end_s: float, *, sent_from_s: float, counted_from_s: float | None) -> Span:
    """Return the part of a batch since the rate was reached; empty where it was not, in this batch."""
    counted_s = max(start_s, min(end_s, math.inf if counted_from_s is None else counted_from_s))
    loaded_s = end_s - max(start_s, sent_from_s)
    part = (end_s - counted_s) / loaded_s if loaded_s > 0 else 0.0
    return Span(counted_s, end_s, part * (end_s - start_s))
