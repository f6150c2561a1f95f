"""The constraint on the processing latency that an answer has to keep.

What it is asked of differs on purpose: a round shows its typical window's latency, as one stalled window is no property
of the job (`typical_latency`); a verification the worst one of production's batches.
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
