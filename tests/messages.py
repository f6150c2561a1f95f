"""Messages with a time of their own, for tests that compare what comes out with what went in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Message:
    """A message and the time it is due at, which is its rows' event time."""

    value: str
    at_ms: int
    key: str | None = None
