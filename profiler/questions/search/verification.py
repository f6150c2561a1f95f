"""One batch of production's kind at one rate: whether the latency is kept, and whether the queue grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from profiler.experiment.constraint import LatencyConstraint
from profiler.experiment.observation import Latency, Observation, end_to_end_latency, typical_latency

KEPT_UP = 0.98
"""Part of the offered rows that must come through for the queue to count as not growing: in half a minute, less would
be more than half a second's rows, which come and go with the ends of batches."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What came of a rate in batches of one length."""

    batch_s: float
    rate_per_s: float
    latency_ms: Latency | None
    """The latency; None where no row told it: the constraint then counts as met."""
    latency_quantile: float
    """The quantile that the constraint bounds."""
    latency_met: bool
    queue_grew: bool
    came_through_per_s: float
    less: Verification | None
    """The verification at a lower rate, which older profiles made where this one failed."""
    passed: bool
    """The rate holds in production."""
    end_to_end_ms: Latency | None = None
    """The latency from the time that a message was due; None where it was not measured, or the queue grew."""
    machine_speed: float = 1.0
    """Speed of the machine meanwhile, in times its usual one, as far as the job depends on it."""

    @property
    def usual_per_s(self) -> float:
        """Return the rate that is as much for the machine at its usual speed as this one was."""
        return self.rate_per_s / self.machine_speed

    @property
    def usually_through_per_s(self) -> float:
        """Return what would have come through at the machine's usual speed."""
        return self.came_through_per_s / self.machine_speed


def judged(
    windows: Sequence[Observation],
    constraint: LatencyConstraint,
    rate: float,
    batch_s: float,
    machine_speed: float = 1.0,
) -> Verification:
    """Judge what was seen at a rate: all rows together must keep the latency, and the queue must not grow."""
    latency = typical_latency(windows)
    came_through = sum(window.source_rows for window in windows)
    offered = sum(window.offered_rows for window in windows)
    latency_met = latency is None or constraint.is_met_by(latency)
    queue_grew = came_through < KEPT_UP * offered
    return Verification(
        batch_s=batch_s,
        rate_per_s=rate,
        latency_ms=latency,
        latency_quantile=constraint.quantile,
        latency_met=latency_met,
        queue_grew=queue_grew,
        came_through_per_s=came_through / sum(window.duration_s for window in windows),
        less=None,
        passed=latency_met and not queue_grew,
        end_to_end_ms=end_to_end_latency(windows),
        machine_speed=machine_speed,
    )


def latency_in_words(verification: Verification) -> str:
    """Say what the bounded quantile was."""
    latency, quantile = verification.latency_ms, verification.latency_quantile
    if latency is None:
        return "no row told its latency"
    end_to_end = verification.end_to_end_ms
    from_due = "" if end_to_end is None else f" (since due {end_to_end.quantile(quantile):,.0f})"
    return f"{latency.name(quantile)} {latency.quantile(quantile):,.0f} ms{from_due}"


def trouble_in_words(verification: Verification) -> str:
    """Say why a rate does not hold."""
    late = f"the latency constraint is violated ({latency_in_words(verification)})"
    troubles = [] if verification.latency_met else [late]
    troubles += ["the queue grows"] if verification.queue_grew else []
    return " and ".join(troubles)
