"""What a configuration does in the long run without noise, and the highest rate at which it keeps a latency.

The rows of a batch are those of its ticks together: after the pause more rows flow for a while, and where they are more
than the configuration can take, its queues are full for that time.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from scipy import optimize

from profiler.engines.simulated.batching import Batching
from profiler.engines.simulated.flow import Flow
from profiler.engines.simulated.network import Network
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.engines.simulated.saturation import Saturation
from profiler.engines.simulated.sojourn import part_within
from profiler.experiment.constraint import LatencyConstraint

_LEAST_LOAD = 1e-3
"""Part of the highest rate below which none is looked for."""
_RATE_ERROR = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class SteadyState:
    """One configuration with average data: a flow of one case, read in batches."""

    network: Network
    flow: Flow
    platform: SimulatedPlatform
    saturation: Saturation
    batching: Batching

    @classmethod
    def of(cls, network: Network, flow: Flow, platform: SimulatedPlatform, batch_s: float) -> SteadyState:
        """Find its limits."""
        saturation = Saturation.of(network, flow, platform.queue_rows)
        return cls(network, flow, platform, saturation, Batching.of(platform, flow, batch_s))

    @property
    def highest_per_s(self) -> float:
        """Rate from which on the queue grows."""
        return float(self.saturation.capacity_per_s[0]) * self.batching.reading_part

    def keeps(self, rate_per_s: float, constraint: LatencyConstraint) -> bool:
        """Tell whether the latency is kept at a rate at which the queue does not grow."""
        return self._to_spare(rate_per_s, constraint) >= 0

    def highest_rate(self, constraint: LatencyConstraint) -> float:
        """Return the highest rate that keeps the constraint; 0 where none does."""
        highest, least = self.highest_per_s, _LEAST_LOAD * self.highest_per_s
        if self.keeps(highest, constraint):
            return highest
        if not self.keeps(least, constraint):
            return 0.0

        def to_spare(load: float) -> float:
            return self._to_spare(load * highest, constraint)

        return highest * float(optimize.brentq(to_spare, _LEAST_LOAD, 1.0, xtol=_RATE_ERROR, rtol=_RATE_ERROR))

    def _to_spare(self, rate_per_s: float, constraint: LatencyConstraint) -> float:
        """Return the part of the rows within the latency, less what the constraint asks for."""
        capacity = float(self.saturation.capacity_per_s[0])
        rows: defaultdict[tuple[float, bool], float] = defaultdict(float)
        for read in self.batching.steady(rate_per_s, capacity):
            rows[read.flow_per_s, read.saturated] += read.rows
        kept = sum(count * self._part(flow, constraint, full=full) for (flow, full), count in rows.items())
        return kept / sum(rows.values()) - constraint.quantile

    def _part(self, flow_per_s: float, constraint: LatencyConstraint, *, full: bool) -> float:
        queues = self.saturation.full[0] if full else None
        return part_within(self.network, self.flow, self.platform, flow_per_s, constraint.latency_ms / 1000, queues)
