"""Probe the latency of a deployment that was under stress: at 90 % of its throughput, and lower until it is kept.

What stress has left in the queues is no latency of the rate that is probed: as long as a latency that breaks its
constraint still falls, more windows are looked at, and the last ones count (scripts/benches/results/quality.md). Where
it is broken all the same, the highest rate that keeps it is looked for by halving: roughly, to tell configurations
apart. What an answer holds in the end is found with production's batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from profiler.experiment.constraint import LatencyConstraint
from profiler.experiment.observation import Observation, typical_latency

PROBE_LOAD = 0.9
KEPT_UP = 0.95
"""Part of a probe's rows that must come through for the probe to tell the latency at its rate."""
SETTLING = 6
"""Windows more than a probe has that are waited for at the most, while a latency that is too long falls."""
FALLS = 0.95
"""Part of the window's latency before it from which down one still falls."""
DOWN = (2 / 3, 0.4, 0.25)
"""Parts of the rate that broke the constraint which are tried next, as long as none keeps it; as many lower rates are
tried in all."""

Observe = Callable[[float, int], Iterator[Observation]]


@dataclass(frozen=True, slots=True)
class Probed:
    """What the probes of a round told."""

    windows: tuple[Observation, ...]
    """The windows at 90 % of the throughput, or of what came through where that was less."""
    kept_per_s: float | None
    """The highest rate tried that kept the constraint; None where none did, or there is none."""


@dataclass(frozen=True, slots=True)
class LatencyProbe:
    """Probes one deployment: `observe` offers a rate and yields at most so many windows of it."""

    observe: Observe
    windows: int
    """Windows that tell the latency at one rate."""
    constraint: LatencyConstraint | None = None

    def below(self, throughput_per_s: float) -> Probed:
        """Probe below a throughput that was seen under stress."""
        if self.windows <= 0:
            return Probed((), None)
        probe = self._below_what_comes(throughput_per_s)
        rate_per_s = probe[0].offered_per_s
        if self.constraint is None:
            return Probed(probe, None)
        return Probed(probe, rate_per_s if self._keeps(probe) else self._lower(rate_per_s))

    def _below_what_comes(self, throughput_per_s: float) -> tuple[Observation, ...]:
        """Observe at 90 %; a job that no longer keeps up with that is probed once more, lower.

        A machine that became slower turns 90 % of its throughput into more than it can do, and what is measured then
        is the backlog, not the configuration. What came through is all that it can do now.
        """
        probe = self._settled(PROBE_LOAD * throughput_per_s)
        came = sum(each.source_rows for each in probe)
        if _kept_up(probe) or came <= 0:
            return probe
        return self._settled(PROBE_LOAD * came / sum(each.duration_s for each in probe))

    def _lower(self, broken_per_s: float) -> float | None:
        """Halve towards the highest rate that keeps the constraint, below one that broke it."""
        kept_per_s: float | None = None
        for part in DOWN:
            rate_per_s = part * broken_per_s if kept_per_s is None else (kept_per_s + broken_per_s) / 2
            probe = self._settled(rate_per_s)
            if self._keeps(probe) and _kept_up(probe):
                kept_per_s = rate_per_s
            else:
                broken_per_s = rate_per_s
        return kept_per_s

    def _settled(self, rate_per_s: float) -> tuple[Observation, ...]:
        """Observe at a rate until the latency is kept, or does not fall any more; the last windows count."""
        seen: list[Observation] = []
        for window in self.observe(rate_per_s, self.windows + SETTLING):
            seen.append(window)
            if len(seen) >= self.windows and (self._keeps(seen[-self.windows :]) or not self._falls(seen)):
                break
        return tuple(seen[-self.windows :])

    def _keeps(self, windows: Sequence[Observation]) -> bool:
        """Tell whether windows keep the constraint; without one, or a latency, there is nothing to break."""
        latency = typical_latency(windows)
        return self.constraint is None or latency is None or self.constraint.is_met_by(latency)

    def _falls(self, seen: Sequence[Observation]) -> bool:
        """Tell whether the latency is on its way down, so that a queue is what is left of stress."""
        if self.constraint is None or len(seen) < 2:
            return False
        before, now = (self.constraint.bounded_ms(each.processing_ms) for each in seen[-2:])
        return now < FALLS * before


def _kept_up(probe: Sequence[Observation]) -> bool:
    return sum(each.source_rows for each in probe) >= KEPT_UP * sum(each.offered_rows for each in probe)
