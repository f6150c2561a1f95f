"""The time that a search may take: no round starts that would probably end after it."""

from __future__ import annotations

import statistics
from collections.abc import Callable

LATER_ROUND = 0.6
"""Part of the first round's time that a later one takes at the most, as a rule.

The first one loads a cold engine for 30 s, and measures it calm as well. By their design rounds take 115 s and then 66,
quick ones 85 s and then 44; on Spark 155 s were seen, and then 73.
"""


class TimeBudget:
    """Begins when it is made; None is no limit."""

    def __init__(self, budget_s: float | None, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._ends_s = None if budget_s is None else clock() + budget_s
        self._took_s: list[float] = []

    def note_round(self, seconds: float) -> None:
        """Take notice of how long a round took."""
        self._took_s.append(seconds)

    @property
    def is_over(self) -> bool:
        """Nothing more is to be started."""
        return self._ends_s is not None and self._clock() > self._ends_s

    @property
    def has_room_for_a_round(self) -> bool:
        """A round like those after the first, which is longer as everything is new in it, would end in time."""
        return self._ends_s is None or self._clock() + self._likely_s <= self._ends_s

    @property
    def _likely_s(self) -> float:
        if not self._took_s:
            return 0.0
        first_s, *later_s = self._took_s
        return statistics.fmean(later_s) if later_s else LATER_ROUND * first_s
