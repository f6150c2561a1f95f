"""The constraint on the processing latency that an answer has to keep.

It bounds a quantile of rows: of all rows of a round's probe together, and of all rows of a verification
(`typical_latency`). A window that stalled counts by its rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from profiler.experiment.observation import Latency


@dataclass(frozen=True, slots=True)
class LatencyConstraint:
    """The longest latency that a quantile of the rows may have."""

    latency_ms: float
    quantile: float

    def bounded_ms(self, latency: Latency) -> float:
        """Return what the constraint bounds of a distribution."""
        return latency.quantile(self.quantile)

    def is_met_by(self, latency: Latency) -> bool:
        """Tell whether a distribution keeps it."""
        return self.bounded_ms(latency) <= self.latency_ms
