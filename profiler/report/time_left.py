"""How long a profile still takes: guessed from its design before the first round, from its rounds after that."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from profiler.experiment.clock import DEPLOYING_S, DRAINING_S, STARTING_S
from profiler.experiment.events import (
    BlockStarted,
    Event,
    LoadingStarted,
    RoundDecided,
    SearchEnded,
    TrialStarted,
    VerificationStarted,
    WindowSeen,
)
from profiler.experiment.window_plan import LONGEST_BATCH_S, TYPICAL_BATCHES, WindowPlan
from profiler.report.words import minutes

TYPICAL_ROUNDS = 5
"""Rounds that a profile takes on Spark at the median."""
ARMS = 2
"""Arms of a confirmation that are reckoned with: there are up to three, but an early look drops those that are
decided."""


class TimeLeft:
    """Follows the events of a profile, and guesses."""

    def __init__(
        self,
        design: WindowPlan,
        window_s: float,
        *,
        cold_s: float = 0.0,
        batch_s: float | None = None,
        budget_s: float | None = None,
        whole_s: float | None = None,
        rounds: int = TYPICAL_ROUNDS,
        arms: int = ARMS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take `cold_s` for the seconds that a new engine is loaded first, `batch_s` for production's batches.

        The rounds of a search end within `budget_s`, and all of it within `whole_s`.
        """
        self._design = design
        self._rounds = rounds
        self._arms = arms
        self._window_s = window_s + DRAINING_S
        self._verifying_s = 0.0 if batch_s is None else DEPLOYING_S + TYPICAL_BATCHES * min(batch_s, LONGEST_BATCH_S)
        self._clock = clock
        self._began_s = clock()
        self._ends_s = [self._began_s + STARTING_S + cold_s]
        """The moments at which the start was over by the guess, and every round ended."""
        self._budget_s = math.inf if budget_s is None else budget_s
        self._whole_s = math.inf if whole_s is None else whole_s
        self._search_began_s = self._began_s + STARTING_S
        self._blocks_left: int | None = None
        self._settled_end_s: float | None = None
        self._searching = True

    def __call__(self, event: Event) -> None:
        """Take notice of what happened."""
        match event:
            case TrialStarted(number=1) | LoadingStarted(number=1):
                self._ends_s[0] += self._clock() - self._began_s - STARTING_S
                self._search_began_s = self._clock()
            case RoundDecided():
                self._ends_s.append(self._clock())
            case SearchEnded():
                self._searching = False
            case BlockStarted(index, planned, together=together):
                self._searching = False
                self._blocks_left = math.ceil((planned - index) / together)
            case VerificationStarted() if self._settled_end_s is None:
                self._settled_end_s = self._clock() + self._verifying_s
            case WindowSeen():
                pass

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._began_s

    @property
    def left_s(self) -> float:
        """Seconds that are probably left."""
        return min(self._unbounded_s(), max(0.0, self._whole_s - self.elapsed_s))

    def __str__(self) -> str:
        return f"{minutes(self.elapsed_s)} so far, about {minutes(self.left_s)} left"

    def _unbounded_s(self) -> float:
        """Return what all that is planned would take."""
        if self._settled_end_s is not None:
            return self._settled_end_s - self._clock()
        blocks = self._arms * self._design.blocks if self._blocks_left is None else self._blocks_left
        return self._search_s() + blocks * self._block_s() + self._verifying_s

    def _search_s(self) -> float:
        if not self._searching:
            return 0.0
        design, first_s, done = self._design, self._ends_s[0], len(self._ends_s) - 1
        guessed_s = 2 * DEPLOYING_S + (design.windows + design.probe + 1) * self._window_s
        # The first round, in which everything is new, is longer than those that follow.
        round_s = (self._ends_s[-1] - self._ends_s[1]) / (done - 1) if done > 1 else guessed_s
        # At least a part of a round is left as long as the search goes on, however long it took already.
        ends_s = max(self._ends_s[-1], first_s) + max(1, self._rounds - done) * round_s
        return max(min(ends_s, self._search_began_s + self._budget_s) - self._clock(), round_s / 2)

    def _block_s(self) -> float:
        return DEPLOYING_S + self._design.block_windows * self._window_s
