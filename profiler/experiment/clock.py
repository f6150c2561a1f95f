"""Time that is limited: nothing is begun that would probably end too late."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from profiler.experiment.events import BlockMeasured, BlockStarted, Event, LoadingStarted, TrialStarted, WindowSeen
from profiler.experiment.window_plan import WindowPlan

STARTING_S = 20.0
"""Seconds that broker, database and session take until the first deployment."""
DEPLOYING_S = 5.0
"""Seconds from a deployment's start to the beginning of its first window. Where only one deployment was seen it counts
as no more than this: the first one of a session has more to start and to learn than others."""
DRAINING_S = 0.8
"""Seconds that a window is longer than its trigger, as what is under way drains."""
LATER_ROUND = 0.6
"""Part of the first round's time that a later one takes at the most, as a rule: the first one loads a cold engine, and
measures it calm as well (scripts/benches/results/workloads.md)."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """The moment on a clock by which all has to have ended; None is no limit."""

    ends_s: float | None = None
    clock: Callable[[], float] = time.monotonic

    @classmethod
    def within(cls, budget_s: float | None, clock: Callable[[], float] = time.monotonic) -> Deadline:
        """Set it so many seconds from now."""
        return cls(None if budget_s is None else clock() + budget_s, clock)

    @property
    def left_s(self) -> float:
        """Seconds until then; without a limit there is no end to them."""
        return math.inf if self.ends_s is None else self.ends_s - self.clock()

    @property
    def is_over(self) -> bool:
        """Nothing more is to be started."""
        return self.left_s < 0

    def part_s(self, parts: int) -> float | None:
        """Return one of so many equal parts of the time that is left; None without a limit."""
        return None if self.ends_s is None else max(0.0, self.left_s) / parts


@dataclass(slots=True)
class RoundTime:
    """Takes notice of how long the rounds of a search take, and foresees the next one."""

    deadline: Deadline
    _took_s: list[float] = field(default_factory=list)

    def note_round(self, seconds: float) -> None:
        """Take notice of how long a round took."""
        self._took_s.append(seconds)

    @property
    def allows_a_round(self) -> bool:
        """A round like those after the first, which is longer as everything is new in it, would end in time."""
        return self._likely_s <= self.deadline.left_s

    @property
    def _likely_s(self) -> float:
        if not self._took_s:
            return 0.0
        first_s, *later_s = self._took_s
        return statistics.fmean(later_s) if later_s else LATER_ROUND * first_s


@dataclass(slots=True)
class BlockTime:
    """Follows the events of a gate, a comparison or a search, and foresees the blocks that are still to come.

    How long a block takes is read off the moments at which windows were told of, so an engine whose windows are
    simulated, and take no time, is seen to take none. Before a block was measured it is what deploying takes, and a
    window's step from the end of the one before: longer than the window itself, as what is under way drains. After that
    it is what the blocks so far took on average; by the longest one, gates would end a turn short
    (scripts/benches/results/gate_spark.md).
    """

    deadline: Deadline
    _last_s: float = 0.0
    """The moment at which the last window ended, or the first deployment began."""
    _is_first: bool = True
    """Whether the next window is the first one of a deployment."""
    _firsts_s: list[float] = field(default_factory=list)
    """Seconds from the last window of a deployment to the first one of the next, which end the one and start the
    other."""
    _steps_s: list[float] = field(default_factory=list)
    """Seconds from window to window of one deployment."""
    _began_s: float = 0.0
    _blocks_s: list[float] = field(default_factory=list)
    """Seconds that each block took that counted."""

    def __call__(self, event: Event) -> None:
        """Take notice of what happened."""
        now_s = self.deadline.clock()
        if isinstance(event, TrialStarted | LoadingStarted | BlockStarted):
            self._began_s, self._is_first = now_s, True
            if not self._firsts_s:
                self._last_s = now_s
        elif isinstance(event, WindowSeen):
            (self._firsts_s if self._is_first else self._steps_s).append(now_s - self._last_s)
            self._last_s, self._is_first = now_s, False
        elif isinstance(event, BlockMeasured):
            self._blocks_s.append(now_s - self._began_s)

    def allows(self, blocks: int, windows: int, *, standing: bool = False) -> bool:
        """Tell whether so many blocks of so many windows each would end in time.

        Those of arms that are `standing` need no deployment, but a window each for the change of the load.
        """
        block_s = (windows + 1) * self._window_s if standing else self.block_s(windows)
        return self.deadline.left_s >= blocks * block_s

    def fitting(self, design: WindowPlan, arms: int, *, standing: bool) -> int:
        """Return how many of the design's blocks would end in time, of each arm."""
        windows = design.block if standing else design.block_windows
        every = range(design.blocks, 0, -1)
        return next((each for each in every if self.allows(each * arms, windows, standing=standing)), 0)

    def block_s(self, windows: int) -> float:
        """Return the seconds that a block of so many windows probably takes."""
        if self._blocks_s:
            return statistics.fmean(self._blocks_s)
        return self._deploying_s + windows * self._window_s

    @property
    def _window_s(self) -> float:
        return statistics.median(self._steps_s) if self._steps_s else 0.0

    @property
    def _deploying_s(self) -> float:
        if not self._firsts_s:
            return 0.0
        seen_s = max(0.0, self._firsts_s[-1] - self._window_s)
        return seen_s if len(self._firsts_s) > 1 else min(seen_s, DEPLOYING_S)
