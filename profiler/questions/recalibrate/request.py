"""What a recalibration is asked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RecalibrateRequest:
    """What a recalibration is asked to do."""

    profile: str | None
    topology: str | None
    """The TOPOLOGY argument, where the stored profile does not say it, or it has moved."""
    trust: bool
    """Whether code that the stored profile names is run wherever it is."""
    dry_run: bool
    watch: bool
    job: str | None
    queue_rows: int | None
    period_s: float
