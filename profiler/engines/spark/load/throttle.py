"""Offer more than a job can take without drowning it: rows that would only lie in the queue are held back.

A real-time source reads whatever is there, and what it has read drains before the batch ends. Between source and a slow
operator lie buffers of megabytes, most of them the system's own, so a stream at 1.3 times the capacity makes every
batch 1.3 times as long as the one before, and one at 20 times stands still (scripts/benches/results/throttle.md). So
the rows under way are bounded, in time:

    under way = rows sent − rows that have come out,

held back above HIGH_S × capacity and sent again below LOW_S × capacity (HIGH_S more for every further query that rows
pass), where the capacity is the rate at which rows come out. The job never runs dry, so it shows its full throughput.
On top of that come `buffered_rows`, which a job needs before anything comes out: a Python operator is handed rows by
the batch. Without them tasks that wait for a batch get ever fewer rows: what is slow to come out looks like a slow job,
which is sent less. What was held back is accounted for as if it had been sent: it counts as offered, it waits
in the queue, and every later message was due by that much earlier, so that throughput, queue and latency are those of
an open loop.

A job of unknown capacity is approached from below: never more than twice the rate at which rows come out is sent. It is
sampled rows that tell what has come out; where they are too few, everything is sent.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from profiler.errors import ProfileError

HIGH_S = 0.8
LOW_S = 0.4
"""Seconds' worth of rows under way below which more are sent: above the pause between two batches, in which nothing
comes out."""
GENTLE_SAMPLES_PER_S = 20.0
"""Sampled rows per second that should come out of a job of unknown capacity at first."""
FILL_S = 1.0
"""Seconds in which the rows are sent that a new job must hold before anything comes out of it."""
HEADROOM = 2.0
RISE_S = 0.5
FALL_S = 2.0
"""Time constants of the smoothed capacity: a pause between batches must not look like a slower job. What is averaged
over longer falls slower in proportion: a job that is held back shows less than it could do, and would be held back the
more for it."""
LOOK_S = 0.5
FEWEST_SAMPLES = 4
"""Samples of the last moment below which nothing is said of the capacity."""
SETTLED_S = 2.0
"""Seconds without the capacity growing by a tenth after which a throttle that holds back has reached it."""
SETTLED_AT = 0.8
"""Part of what a deployment took under its last load from which on it is taken to be where it was then."""
PATIENCE_S = 30.0
"""Seconds without any sign of the capacity after which the job is one whose output does not tell it."""
SILENT_S = 90.0
"""The patience with a job whose capacity is known: dozens of Python workers may take half a minute to start."""
LOST_S = 4.0
"""When nothing has come out for this long, longer than a pause between batches, what is under way is given up: a
generator that lagged when it was told to hold back did not send all that was counted."""
CATCH_UP_S = 1.0
STEP = 0.05
"""The smallest change of the rate that is worth telling the generator."""


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What has come out: sampled rows in the last moment, and the newest due time among rows, now and before it."""

    samples: int = 0
    newest_due_s: float = 0.0
    earlier_due_s: float = 0.0
    over_s: float = LOOK_S
    """The length of that moment."""
    hops: int = 1
    """Queries that a row passed to come so far: each has its own pauses between batches, and rows wait in all."""


class Offered:
    """Rows sent up to any time: a rate that was changed now and then."""

    def __init__(self) -> None:
        self._times_s: list[float] = []
        self._rates: list[float] = []
        self._rows: list[float] = []

    def change(self, now_s: float, rate_per_s: float) -> None:
        """Send at this rate from now on."""
        self._rows.append(self.rows(now_s))
        self._times_s.append(now_s)
        self._rates.append(rate_per_s)

    @property
    def changed_s(self) -> float:
        """When the rate was changed last."""
        return self._times_s[-1] if self._times_s else 0.0

    def rows(self, at_s: float) -> float:
        """Count what was due up to a time."""
        index = bisect_right(self._times_s, at_s) - 1
        return 0.0 if index < 0 else self._rows[index] + self._rates[index] * (at_s - self._times_s[index])

    def rows_at(self, at_s: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Count what was due up to each of some times."""
        if not self._times_s:
            return np.zeros_like(at_s)
        index = np.searchsorted(self._times_s, at_s, side="right") - 1
        since = np.array(self._rows)[index] + np.array(self._rates)[index] * (at_s - np.array(self._times_s)[index])
        return np.where(index < 0, 0.0, since)


class Throttle:
    """Decides how much of a nominal rate is sent now; the caller gives it the time and what has come out."""

    def __init__(
        self,
        rate_per_s: float,
        sample_every: int,
        capacity_per_s: float = 0.0,
        *,
        settled_per_s: float = 0.0,
        blind: bool = False,
        buffered_rows: float = 0.0,
    ) -> None:
        self.rate_per_s = rate_per_s
        """The nominal rate."""
        self.capacity_per_s = capacity_per_s
        """Rate at which rows come out, smoothed; 0 while unknown."""
        self.blind = blind
        """Whether what comes out tells nothing, so that everything is sent."""
        self.counted_from_s: float | None = None
        """The moment since which the nominal rate counts as offered; None while it is approached."""
        self._buffered_rows = buffered_rows
        self._gentle_per_s = GENTLE_SAMPLES_PER_S * sample_every
        self._counted_rows = 0.0
        self._offered = Offered()
        self._sent_per_s = 0.0
        self._closed = False
        self.began_s = 0.0
        """The moment at which something was sent first."""
        self._looked_s = 0.0
        self._settled_per_s = settled_per_s
        """What this very deployment took when it last had all it can do, which it need not rise to again; 0 where that
        is not known, or has become more."""
        self._mark_per_s = settled_per_s
        self._out_s = 0.0
        self._silent_from_s = 0.0
        self._newest_due_s = 0.0
        self._lost_until_s = 0.0
        """The moment up to which what was due is not waited for."""
        self._risen_s = math.inf
        """The moment at which the capacity last grew by a tenth; never, until rows come out, and long ago where it came
        back to what it was."""
        self.held_back = False
        """Whether something was held back, as it was more than the job takes."""

    def open(self, now_s: float) -> float:
        """Begin; give the rate to send at."""
        self.began_s = self._looked_s = self._out_s = self._silent_from_s = now_s
        return self._send(now_s)

    def look(self, now_s: float, arrivals: Arrivals) -> float:
        """Learn from what has come out; give the rate to send at."""
        came_out = self._offered.rows(arrivals.newest_due_s)
        if arrivals.samples >= FEWEST_SAMPLES:
            seen_per_s = (came_out - self._offered.rows(arrivals.earlier_due_s)) / arrivals.over_s
            self._learn(now_s, seen_per_s, FALL_S * arrivals.over_s / LOOK_S)
        self._looked_s = now_s
        if self.capacity_per_s and not self.blind:
            under_way = self._offered.rows(now_s) - max(came_out, self._given_up(now_s, arrivals.newest_due_s))
            bound_s = arrivals.hops * HIGH_S - (HIGH_S - LOW_S if self._closed else 0.0)
            self._closed = under_way > bound_s * self.capacity_per_s + self._buffered_rows
        # A job may fall silent that was not before: one that drops duplicates, once the data begin anew.
        known = self.capacity_per_s > 0
        since_s, patience_s = (self._silent_from_s, SILENT_S) if known else (self.began_s, PATIENCE_S)
        if now_s - since_s > patience_s:
            self.blind, self._closed = True, False
        sent_per_s = self._send(now_s)
        if self.counted_from_s is None and self._is_reached(now_s, sent_per_s):
            self.counted_from_s, self._counted_rows = now_s, self._offered.rows(now_s)
        self.held_back |= self._closed
        return sent_per_s

    def held_rows(self, at_s: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Tell how many rows had been held back by each of some times."""
        if self.counted_from_s is None:
            return np.zeros_like(at_s)
        due = self.rate_per_s * (at_s - self.counted_from_s)
        held = due - (self._offered.rows_at(at_s) - self._counted_rows)
        return np.where(at_s > self.counted_from_s, np.maximum(held, 0.0), 0.0)

    def sent_until_s(self, now_s: float) -> float:
        """Tell when a row was last sent."""
        return now_s if self._sent_per_s > 0 else self._offered.changed_s

    def _given_up(self, now_s: float, newest_due_s: float) -> float:
        """Count the rows that are not waited for, as nothing has come out for too long."""
        if newest_due_s > self._newest_due_s:
            self._newest_due_s, self._out_s, self._silent_from_s = newest_due_s, now_s, now_s
        elif now_s - self._out_s > LOST_S:
            self._lost_until_s, self._out_s = now_s, now_s
        return self._offered.rows(self._lost_until_s)

    def _learn(self, now_s: float, seen_per_s: float, fall_s: float) -> None:
        smooth_s = RISE_S if seen_per_s > self.capacity_per_s else fall_s
        weight = 1 - math.exp(-(now_s - self._looked_s) / smooth_s) if self.capacity_per_s else 1.0
        self.capacity_per_s += weight * (seen_per_s - self.capacity_per_s)
        if seen_per_s > 1.1 * self._mark_per_s:
            self._mark_per_s, self._risen_s, self._settled_per_s = seen_per_s, now_s, 0.0
        elif self._settled_per_s and seen_per_s > SETTLED_AT * self._settled_per_s:
            self._risen_s = -math.inf
        elif self._risen_s == math.inf:
            self._risen_s = now_s

    def _is_reached(self, now_s: float, sent_per_s: float) -> bool:
        """Tell whether the nominal rate is sent and comes out, or as much of it as the job takes."""
        if sent_per_s >= self.rate_per_s:
            return self.blind or self._risen_s < math.inf
        return self._closed and now_s - self._risen_s > SETTLED_S

    def _send(self, now_s: float) -> float:
        """Choose the rate: what was held back in a passing stall is caught up, as it would be from a queue."""
        wanted = self.rate_per_s + float(self.held_rows(np.array([now_s]))[0]) / CATCH_UP_S
        if self._closed:
            wanted = 0.0
        elif not self.blind:
            wanted = min(wanted, max(self._gentle_at(now_s), HEADROOM * self.capacity_per_s))
        reached = wanted == self.rate_per_s != self._sent_per_s
        if reached or abs(wanted - self._sent_per_s) > STEP * max(wanted, self._sent_per_s):
            self._sent_per_s = wanted
            self._offered.change(now_s, wanted)
        return self._sent_per_s

    def _gentle_at(self, now_s: float) -> float:
        """Choose the rate for a job of which nothing is known: first what it must hold before anything comes out."""
        fills = not self.capacity_per_s and self._offered.rows(now_s) < self._buffered_rows
        return max(self._gentle_per_s, self._buffered_rows / FILL_S) if fills else self._gentle_per_s


class ThrottleThread:
    """A thread that asks a throttle again and again, and tells the generator."""

    def __init__(
        self,
        throttle: Throttle,
        set_rate: Callable[[float], None],
        arrivals: Callable[[], Arrivals],
        *,
        every_s: float = 0.1,
    ) -> None:
        self.throttle = throttle
        self._set_rate = set_rate
        self._arrivals = arrivals
        self._every_s = every_s
        self._told: float | None = None
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="profile-throttle", daemon=True)

    def start(self) -> None:
        """Begin to offer the throttle's rate."""
        self._tell(self.throttle.open(time.time()))
        self._thread.start()

    def stop(self) -> None:
        """Offer nothing more."""
        self._ended.set()
        self._thread.join()
        with contextlib.suppress(ProfileError):  # a generator that died says so where it is waited for
            self._tell(0.0)

    def held_rows(self, at_s: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Tell how many rows had been held back by each of some times."""
        with self._lock:
            return self.throttle.held_rows(at_s)

    def require_working(self) -> None:
        """Raise what ended it by itself: without it the rate is never reached, and no window would ever count."""
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            while not self._ended.wait(self._every_s):
                with self._lock:
                    rate = self.throttle.look(time.time(), self._arrivals())
                self._tell(rate)
        except ProfileError:
            return  # a generator that died says so where it is waited for
        except Exception as error:  # noqa: BLE001 - raised in the thread that waits for windows
            self._failure = error

    def _tell(self, rate_per_s: float) -> None:
        if rate_per_s != self._told:
            self._told = rate_per_s
            self._set_rate(rate_per_s)
