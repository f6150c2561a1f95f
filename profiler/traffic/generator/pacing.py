"""Open-loop pacing: when each message is due, whatever became of the messages before it.

The rate is a step function r(t). Message k (k = 1, 2, …) is due at the time t_k at which ∫ r reaches k, counted from
the start. Times are computed from the start of the current step, t_k = start + (j − phase) / r with j the number of
the message within the step and phase the part of a message that the steps before left over: an error of one sleep is
not carried into the next, so the rate has no drift, and a change of rate neither loses nor invents a message.

A sender that was held up still owes what became due meanwhile, and those messages keep the times at which they were
due. Latency measured from these times includes the hold-up: no coordinated omission.

Nothing here reads a clock: every method takes the time, in seconds on one steady clock.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Burst:
    """Consecutive messages that are due, evenly spaced."""

    count: int
    first_s: float
    """The moment at which the first of them was due."""
    interval_s: float

    def runs(self, to_epoch_s: float) -> Iterator[tuple[int, int]]:
        """Yield (millisecond since the epoch, count) for neighbours that were due in the same millisecond.

        `to_epoch_s` turns the steady clock's time into the epoch's. One time stamp per run instead of one per
        message is what makes high rates cheap.
        """
        first_ms = (self.first_s + to_epoch_s) * 1000
        interval_ms = self.interval_s * 1000
        done = 0
        while done < self.count:
            millisecond = math.floor(first_ms + done * interval_ms)
            until_next = math.ceil((millisecond + 1 - first_ms) / interval_ms) - done
            count = min(max(1, until_next), self.count - done)
            yield millisecond, count
            done += count


@dataclass(frozen=True, slots=True)
class _Step:
    """A time of constant rate: its j-th message is due at start_s + (j − phase) / rate_per_s."""

    start_s: float
    rate_per_s: float
    before: int
    """Messages of all earlier steps."""
    phase: float = 0.0

    def due_s(self, index: int) -> float:
        """Tell when message `index`, counted from the first step, is due if this step lasts long enough."""
        if self.rate_per_s == 0:
            return math.inf
        return self.start_s + (index - self.before - self.phase) / self.rate_per_s

    def count(self, now_s: float) -> int:
        """Count the messages that are due by now, those of all earlier steps included."""
        if now_s <= self.start_s:
            return self.before
        index = self.before + math.floor((now_s - self.start_s) * self.rate_per_s + self.phase)
        # Rounding may be off by one: what counts is that the count and the times tell the same story.
        while index > self.before and self.due_s(index) > now_s:
            index -= 1
        while self.due_s(index + 1) <= now_s:
            index += 1
        return index


class Pacer:
    """Says which messages are due; the sender says which it has taken."""

    def __init__(self, start_s: float) -> None:
        """Begin at rate 0."""
        self._steps = [_Step(start_s, 0.0, 0)]
        self._taken = 0

    def set_rate(self, rate_per_s: float, at_s: float) -> None:
        """Change the rate from `at_s` on, which may lie ahead; a change planned for later than `at_s` is dropped."""
        at_s = max(at_s, self._steps[0].start_s)
        while len(self._steps) > 1 and self._steps[-1].start_s >= at_s:
            self._steps.pop()
        last = self._steps[-1]
        before = last.count(at_s)
        position = (at_s - last.start_s) * last.rate_per_s + last.phase - (before - last.before)
        # Below 1, or the next message would have been due before the change.
        phase = min(max(position, 0.0), math.nextafter(1.0, 0.0))
        self._steps.append(_Step(at_s, rate_per_s, before, phase))

    def rate_per_s(self, now_s: float) -> float:
        """Tell the rate that holds now."""
        return self._step_at(now_s).rate_per_s

    def offered(self, now_s: float) -> int:
        """Count the messages that were due by now since the start, sent or not."""
        return self._step_at(now_s).count(now_s)

    def due(self, now_s: float, limit: int) -> Burst | None:
        """Give the oldest messages that are due and not taken, at most `limit` and all of one rate."""
        while len(self._steps) > 1 and self._steps[1].start_s <= now_s and self._steps[1].before <= self._taken:
            del self._steps[0]
        begun = [step for step in self._steps if step.start_s <= now_s]
        ends = [*(after.before for after in begun[1:]), begun[-1].count(now_s)] if begun else []
        for step, end in zip(begun, ends, strict=True):
            if end > self._taken:
                count = min(end - self._taken, limit)
                return Burst(count, step.due_s(self._taken + 1), 1 / step.rate_per_s)
        return None

    def take(self, count: int) -> None:
        """Note that the oldest `count` messages are sent."""
        self._taken += count

    def abandon(self, now_s: float) -> int:
        """Give up what is owed, so that a burst of catching up does not fall into the next window; tell how many."""
        owed = self.offered(now_s) - self._taken
        self._taken += owed
        return owed

    def next_s(self) -> float:
        """Tell when the oldest message that is not taken is or was due; infinity where none is planned."""
        for step, after in pairwise(self._steps):
            if self._taken < after.before:
                return step.due_s(self._taken + 1)
        return self._steps[-1].due_s(self._taken + 1)

    def behind_s(self, now_s: float) -> float:
        """Tell how long the oldest message that is owed has been due; 0 where none is."""
        return max(0.0, now_s - self.next_s())

    def _step_at(self, now_s: float) -> _Step:
        return next((step for step in reversed(self._steps) if step.start_s <= now_s), self._steps[0])
