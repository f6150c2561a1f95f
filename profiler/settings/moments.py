"""A moment in the past, as a user writes it: how long ago, or a date."""

from __future__ import annotations

from datetime import datetime, timedelta

from profiler.settings.quantities import Kind, duration


def moment(now: datetime) -> Kind[datetime]:
    """Read "7d" or "12h" as that long before `now`, and dates as in ISO 8601; local time unless a zone is written."""

    def parse(text: str) -> datetime:
        try:
            return now - timedelta(seconds=duration().parse(text))
        except (ValueError, OverflowError):
            return datetime.fromisoformat(text.strip()).astimezone()

    noun = "a moment: how long ago, or a date"
    return Kind(noun, "7d, 12h, 2026-01-31 or 2026-01-31T08:00", "MOMENT", parse, datetime.isoformat)
