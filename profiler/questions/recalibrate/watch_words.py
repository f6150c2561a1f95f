"""What a watch says, in sentences and as a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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


def watch_document(stored: StoredProfile, limits: WatchLimits, windows: int, alarms: Sequence[Alarm]) -> dict[str, Any]:
    """Write what was seen as one document."""
    return {
        "schema": SCHEMA,
        "profile": stored.run,
        "topology": stored.topology,
        "engine": stored.engine,
        "limits": {"queue_rows": limits.queue_rows, "latency_ms": limits.latency_ms, "period_s": limits.period_s},
        "windows": windows,
        "recommended": any(alarm.raised for alarm in alarms),
        "alarms": [_alarm(alarm) for alarm in alarms],
    }


def _alarm(alarm: Alarm) -> dict[str, Any]:
    return {
        "at": alarm.at.isoformat(),
        "quantity": str(alarm.quantity),
        "raised": alarm.raised,
        "value": alarm.value,
        "limit": alarm.limit,
        "since": alarm.since.isoformat(),
    }


def _figure(quantity: WatchedQuantity, value: float) -> str:
    return f"{value:,.0f} rows" if quantity is WatchedQuantity.QUEUE else f"{value:,.0f} ms"
