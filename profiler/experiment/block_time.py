"""The time that blocks may take: no block starts that would probably end too late.

How long a block takes is read off the moments at which windows were told of, so an engine whose windows are simulated,
and take no time, is seen to take none. Before a block was measured it is what deploying takes, and a window's step from
the end of the one before: longer than the window itself, as what is under way drains. After that it is what the
blocks so far took on average. (By the longest one, a gate of word count ended 74 s before its time, a turn short.)
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field

from profiler.experiment.events import BlockMeasured, BlockStarted, Event, LoadingStarted, TrialStarted, WindowSeen

DEPLOYING_S = 5.0
"""From a deployment's start to the beginning of its first window. Where only one was seen it counts as no more than
this: the first one of a session has more to start and to learn than others."""


@dataclass(slots=True)
class BlockTime:
    """Follows the events of a gate, and foresees its blocks."""

    clock: Callable[[], float]
    ends_s: float | None
    """On the clock; None is no limit."""
    _last_s: float = 0.0
    """When the last window ended, or the first deployment began."""
    _is_first: bool = True
    """The next window is the first one of a deployment."""
    _firsts_s: list[float] = field(default_factory=list)
    """From the last window of a deployment to the first one of the next, which ends the one and starts the other."""
    _steps_s: list[float] = field(default_factory=list)
    """From window to window of one deployment."""
    _began_s: float = 0.0
    _blocks_s: list[float] = field(default_factory=list)
    """Of the blocks that counted."""

    def __call__(self, event: Event) -> None:
        """Take notice of what happened."""
        now_s = self.clock()
        if isinstance(event, TrialStarted | LoadingStarted | BlockStarted):
            self._began_s, self._is_first = now_s, True
            if not self._firsts_s:
                self._last_s = now_s
        elif isinstance(event, WindowSeen):
            (self._firsts_s if self._is_first else self._steps_s).append(now_s - self._last_s)
            self._last_s, self._is_first = now_s, False
        elif isinstance(event, BlockMeasured):
            self._blocks_s.append(now_s - self._began_s)

    @property
    def left_s(self) -> float:
        """Seconds until the end; without a limit there is no end to them."""
        return math.inf if self.ends_s is None else self.ends_s - self.clock()

    def allows(self, blocks: int, windows: int) -> bool:
        """Tell whether so many blocks of so many windows each would end in time."""
        return self.left_s >= blocks * self.block_s(windows)

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
