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


@dataclass(frozen=True, slots=True)
class Achieved:
    """A window of a generator's life: what was intended and what arrived at the broker."""

    offered_per_s: float
    acked_per_s: float
    behind_s: float
    """Seconds that the generator was behind at the end of the window."""
    errors: int
    abandoned_per_s: float = 0.0
    """Intended messages a second that were given up when the rate was changed."""

    @property
    def limited(self) -> bool:
        """The broker received clearly less than intended: the window says little about the job."""
        owed_per_s = self.offered_per_s - min(self.abandoned_per_s, MOST_ABANDONED * self.offered_per_s)
        return self.acked_per_s < LIMITED_BELOW * owed_per_s


def achieved(reports: Sequence[GeneratorReport], start_s: float, end_s: float) -> Achieved:
    """Give the rates between two times that the reports enclose; counts between reports are interpolated."""
    times = [report.time_s for report in reports]

    def growth(counts: list[int]) -> float:
        at_start, at_end = np.interp([start_s, end_s], times, counts)
        return float(at_end - at_start)

    return Achieved(
        offered_per_s=growth([report.offered for report in reports]) / (end_s - start_s),
        acked_per_s=growth([report.acked for report in reports]) / (end_s - start_s),
        behind_s=float(np.interp(end_s, times, [report.behind_s for report in reports])),
        errors=round(growth([report.errors for report in reports])),
        abandoned_per_s=growth([report.abandoned for report in reports]) / (end_s - start_s),
    )
