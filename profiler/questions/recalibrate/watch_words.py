"""What a watch says, in sentences and as one value, which is what `profile recalibrate --watch --json` writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from profiler.questions.recalibrate.watch import Alarm, WatchedQuantity, WatchLimits
from profiler.questions.search.stored_profile import StoredProfile

SCHEMA = "profile-watch/1"


def alarm_in_words(alarm: Alarm) -> str:
    """Say that an alarm began or ended, and since when."""
    side = "above" if alarm.raised else "below"
    limit, value = _figure(alarm.quantity, alarm.limit), _figure(alarm.quantity, alarm.value)
    since_s = (alarm.at - alarm.since).total_seconds()
    outcome = "recalibrate" if alarm.raised else "back to normal"
    return f"{alarm.at:%H:%M:%S} {outcome}: {alarm.quantity} {side} {limit} for {since_s:.0f} s (now {value})"


def recommendation(run: str) -> str:
    """Say what to do about an alarm."""
    return (
        "the data or the platform changed: take what the job reads now with 'profile capture', then "
        f"'profile recalibrate {run} --payloads FILE' tells what changed, and repeats what is needed"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchAnswer:
    """What was seen of a job that was watched."""

    schema: str = SCHEMA
    profile: str
    """The run of the profile that the job is held against."""
    topology: str
    engine: str
    limits: WatchLimits
    windows: int
    """The number of windows that were seen."""
    recommended: bool
    """Whether a recalibration was recommended."""
    alarms: tuple[Alarm, ...]


def watch_answer(stored: StoredProfile, limits: WatchLimits, windows: int, alarms: Sequence[Alarm]) -> WatchAnswer:
    """Return what was seen."""
    return WatchAnswer(
        profile=stored.run,
        topology=stored.topology,
        engine=stored.engine,
        limits=limits,
        windows=windows,
        recommended=any(alarm.raised for alarm in alarms),
        alarms=tuple(alarms),
    )


def _figure(quantity: WatchedQuantity, value: float) -> str:
    return f"{value:,.0f} rows" if quantity is WatchedQuantity.QUEUE else f"{value:,.0f} ms"
