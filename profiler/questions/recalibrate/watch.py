"""Watch a running job: recommend a recalibration when its queue or its latency is too high for too long.

With hysteresis, so that a peak does not alarm and an alarm does not flicker: a quantity has to be above its limit in
every window of a whole period to raise the alarm, and below a lower one for as long to end it. A time in which it was
not known, as there were no windows or no row told it, says nothing of it, and starts the count anew where it was longer
than the period and than three times what lies between two windows. (A choice: either quantity alone is enough. A queue
can grow before the source while rows, once read, are processed as fast as ever.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from profiler.report.documents import written_as

RELEASE = 0.8
"""Part of a limit below which a quantity must stay for its alarm to end."""
_MISSING = 3
"""Times the time between two windows that a gap may be."""
QUEUE_S = 10.0
"""The limit of the queue where none is given: seconds that the profile's throughput would take to work it off."""


class WatchedQuantity(StrEnum):
    """A quantity that is watched."""

    QUEUE = "queue"
    LATENCY = "latency"


@dataclass(frozen=True, slots=True)
class WatchLimits:
    """The limits of a watch: from where on it is too much, and for how long."""

    queue_rows: float
    latency_ms: float
    period_s: float = 60.0

    def of(self, quantity: WatchedQuantity) -> float:
        """Return the limit of a quantity."""
        return self.queue_rows if quantity is WatchedQuantity.QUEUE else self.latency_ms


@dataclass(frozen=True, slots=True)
class WatchedSample:
    """A window of the job as it is watched; a latency that no row was sampled for is not known."""

    at: datetime
    queue_rows: float
    latency_ms: float | None

    def of(self, quantity: WatchedQuantity) -> float | None:
        """Return the value of a quantity."""
        return self.queue_rows if quantity is WatchedQuantity.QUEUE else self.latency_ms


@dataclass(frozen=True, slots=True)
class Alarm:
    """An alarm began or ended."""

    at: datetime = field(metadata=written_as(datetime.isoformat))
    quantity: WatchedQuantity
    raised: bool
    value: float
    limit: float
    """The limit that was crossed: the lower one where the alarm ended."""
    since: datetime = field(metadata=written_as(datetime.isoformat))
    """The moment since which it was crossed all the time."""


@dataclass(slots=True)
class _State:
    raised: bool = False
    since: datetime | None = None
    """The moment since which every window was on the other side of the limit."""
    known: datetime | None = None
    """The moment at which it was known last."""
    step: timedelta = timedelta()
    """The time between the last two windows in which it was known."""


@dataclass(slots=True)
class Watch:
    """Follow the windows of one job, in their order."""

    limits: WatchLimits
    _states: dict[WatchedQuantity, _State] = field(
        default_factory=lambda: {quantity: _State() for quantity in WatchedQuantity}
    )

    def see(self, sample: WatchedSample) -> Iterator[Alarm]:
        """Take a window; yield the alarms that it raises or ends."""
        period = timedelta(seconds=self.limits.period_s)
        for quantity, state in self._states.items():
            value = sample.of(quantity)
            if value is None:
                continue
            if state.known is not None:
                gap = sample.at - state.known
                if gap > max(period, _MISSING * state.step):
                    state.since = None
                state.step = gap
            state.known = sample.at
            limit = (RELEASE if state.raised else 1.0) * self.limits.of(quantity)
            crossed = value < limit if state.raised else value > limit
            if not crossed:
                state.since = None
                continue
            state.since = state.since or sample.at
            if sample.at - state.since >= period:
                yield Alarm(sample.at, quantity, not state.raised, value, limit, state.since)
                state.raised, state.since = not state.raised, None

    @property
    def raised(self) -> tuple[WatchedQuantity, ...]:
        """The quantities that are too high now."""
        return tuple(quantity for quantity, state in self._states.items() if state.raised)
