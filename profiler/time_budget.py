"""The time that a search may take: no round starts that would probably end after it."""

from __future__ import annotations

import statistics
from collections.abc import Callable


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
        likely_s = statistics.fmean(self._took_s[1:]) if len(self._took_s) > 1 else 0.0
        return self._ends_s is None or self._clock() + likely_s <= self._ends_s
