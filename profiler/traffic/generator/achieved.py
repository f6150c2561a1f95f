"""What a generator achieved in a window, from its reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from profiler.traffic.generator.wire import GeneratorReport

LIMITED_BELOW = 0.97
"""A window in which less than this part of the intended messages arrived is generator-limited."""
MOST_ABANDONED = 0.2
"""The part of the intended messages that may be given up as the rate was lowered before they were sent. Under stress an
engine lowers it again and again, as soon as the job has enough: what a generator that waits for a core owes then was
not missed (scripts/benches/results/throttle.md). One that gives up more than this may have kept the job waiting."""

AT_ITS_LIMIT = 0.8
"""Cores that a generator uses from which on it can't send faster: one thread prepares all messages, so it ends at one
core. One that uses less and is late had to wait for a core."""


@dataclass(frozen=True, slots=True)
class Achieved:
    """A window of a generator's life: what was intended and what arrived at the broker."""

    offered_per_s: float
    sent_per_s: float
    """Messages a second that were given to the client's queue."""
    acked_per_s: float
    behind_s: float
    """Seconds that the generator was behind at the end of the window."""
    errors: int
    abandoned_per_s: float = 0.0
    """Intended messages a second that were given up when the rate was changed."""
    cores: float = 0.0
    """Cores that the generator used."""
    queue_was_full: bool = False
    """Whether the client's queue had no room for more, as the broker did not take them."""

    @property
    def limited(self) -> bool:
        """The broker received clearly less than intended, and not for want of a core: it tells little of the job."""
        owed_per_s = self.offered_per_s - min(self.abandoned_per_s, MOST_ABANDONED * self.offered_per_s)
        return self.acked_per_s < LIMITED_BELOW * owed_per_s and not self._waited_for_a_core(owed_per_s)

    def _waited_for_a_core(self, owed_per_s: float) -> bool:
        """Tell whether messages were late before they reached the client, although it had room and time for them."""
        is_late = self.sent_per_s < LIMITED_BELOW * owed_per_s
        return is_late and self.cores < AT_ITS_LIMIT and not self.queue_was_full


def achieved(reports: Sequence[GeneratorReport], start_s: float, end_s: float) -> Achieved:
    """Give the rates between two times that the reports enclose; counts between reports are interpolated."""
    times = [report.time_s for report in reports]

    def growth(counts: Sequence[float]) -> float:
        at_start, at_end = np.interp([start_s, end_s], times, counts)
        return float(at_end - at_start)

    return Achieved(
        offered_per_s=growth([report.offered for report in reports]) / (end_s - start_s),
        sent_per_s=growth([report.sent for report in reports]) / (end_s - start_s),
        acked_per_s=growth([report.acked for report in reports]) / (end_s - start_s),
        behind_s=float(np.interp(end_s, times, [report.behind_s for report in reports])),
        errors=round(growth([report.errors for report in reports])),
        abandoned_per_s=growth([report.abandoned for report in reports]) / (end_s - start_s),
        cores=growth([report.cpu_s for report in reports]) / (end_s - start_s),
        queue_was_full=growth([report.queue_full for report in reports]) > 0,
    )
