"""Verify an answer as it would run in production: long batches, 95 % of the rate that was found.

The search uses short batches, because one batch is one window. A production job uses long ones, as every batch end
costs a pause and a checkpoint. So the last run checks what the search could not see: that the latency constraint holds
and the queue does not grow over whole production batches. Where that fails it is tried once more with less: a job on
cores that are all in use has no room for the machine's own ups and downs, and the user needs a rate to rely on. That is
less than the job has just shown, not less than the search found: the machine may have been faster then
(scripts/benches/results/workloads.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from profiler.experiment.constraint import LatencyConstraint
from profiler.experiment.engine import Engine
from profiler.experiment.events import Listener, Phase, VerificationStarted, ignore
from profiler.experiment.measure import observed
from profiler.experiment.observation import Detail, Latency, Observation, end_to_end_latency, typical_latency
from profiler.experiment.rounds import Round
from profiler.experiment.window_plan import VERIFICATION_BATCHES, VERIFICATION_WARM_UP_BATCHES
from profiler.job.topology import Topology

LOAD = 0.95
LESS_LOAD = 0.8
"""The load of a second try, where the first one fails: as a part of what was found, or of what came through if the
queue grew."""
KEPT_UP = 0.97
"""Part of the offered rows that must come through for the queue to count as not growing."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of a verification."""

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
    """The verification at a lower rate, where this one failed."""
    passed: bool
    """The answer holds in production."""
    end_to_end_ms: Latency | None = None
    """The latency from the time that a message was due; None where it was not measured, or the queue grew."""


def verify(
    engine: Engine,
    topology: Topology,
    answer: Round,
    constraint: LatencyConstraint,
    batch_s: float,
    report: Listener = ignore,
) -> Verification:
    """Run the answer with production batches; where it does not hold, go on with less load."""
    configuration = answer.configuration
    found_per_s = configuration.offered_per_s or answer.throughput_per_s
    deployment = engine.deploy(topology, configuration, Detail.LIGHT, fused=answer.trial.fused, window_s=batch_s)

    def at(rate_per_s: float, warm_up: int) -> Verification:
        report(VerificationStarted(configuration, rate_per_s, batch_s))
        batches = warm_up + VERIFICATION_BATCHES
        seen = observed(deployment, rate_per_s, batches, Phase.VERIFICATION, configuration=configuration, report=report)
        return judged(seen[warm_up:], constraint, rate_per_s, batch_s)

    with closing(deployment):
        verification = at(LOAD * found_per_s, VERIFICATION_WARM_UP_BATCHES)
        if verification.passed:
            return verification
        can_do_per_s = verification.came_through_per_s if verification.queue_grew else found_per_s
        return replace(verification, less=at(LESS_LOAD * min(found_per_s, can_do_per_s), 0))


def judged(windows: Sequence[Observation], constraint: LatencyConstraint, rate: float, batch_s: float) -> Verification:
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
    )


def holds_with_less(verification: Verification) -> bool:
    """Tell whether a lower rate was tried and held."""
    return verification.less is not None and verification.less.passed


def in_words(verification: Verification) -> str:
    """Say in one sentence what came of it."""
    where = f"at {verification.rate_per_s:,.0f} rows/s with batches of {verification.batch_s:g} s"
    latency = _latency_in_words(verification)
    if verification.passed:
        return f"holds {where}: {latency}, the queue does not grow"
    troubles = [] if verification.latency_met else [f"the latency constraint is violated ({latency})"]
    troubles += ["the queue grows"] if verification.queue_grew else []
    less = verification.less
    if less is None or not holds_with_less(verification):
        also = "" if less is None else f", nor at {less.rate_per_s:,.0f}"
        return f"does not hold {where}: {' and '.join(troubles)}{also}; offer less or give it more slots"
    holds = f"it holds at {less.rate_per_s:,.0f} rows/s ({_latency_in_words(less)})"
    return f"{holds}, not {where}: {' and '.join(troubles)}"


def _latency_in_words(verification: Verification) -> str:
    latency, quantile = verification.latency_ms, verification.latency_quantile
    if latency is None:
        return "no row told its latency"
    end_to_end = verification.end_to_end_ms
    from_due = "" if end_to_end is None else f" (since due {end_to_end.quantile(quantile):,.0f})"
    return f"{latency.name(quantile)} {latency.quantile(quantile):,.0f} ms{from_due}"
