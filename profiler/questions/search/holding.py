"""The rate that an answer holds: the highest at which the latency is kept and the queue does not grow, in production.

The search uses short batches, because one batch is one window, and stress, because that tells configurations apart. A
production job uses long batches, as every batch's end costs a pause and a checkpoint, and must keep up with what is
offered. So the answer is run with long batches at a handful of rates (`rate_search.py`). Batches of half a minute stand
for longer ones: the engine weighs the latencies of a batch as in one of production's length.

A profile that has no time for it (`--quick`, a `--budget` that is over) has a rate all the same: the highest one at
which the latency probes of the answer's round kept the constraint, and says that it is no more than that.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from profiler.experiment.clock import Deadline
from profiler.experiment.constraint import LatencyConstraint
from profiler.experiment.disturbed import is_disturbed
from profiler.experiment.engine import Engine
from profiler.experiment.events import Listener, Phase, VerificationStarted, ignore
from profiler.experiment.measure import observed
from profiler.experiment.observation import Detail, Observation
from profiler.experiment.rounds import Round
from profiler.experiment.window_plan import LONGEST_BATCH_S
from profiler.job.topology import Topology
from profiler.questions.search.rate_search import Bracket, next_rate
from profiler.questions.search.readings.evidence import windows_at_stress
from profiler.questions.search.verification import Verification, judged
from profiler.statistics.search_noise import search_noise

START = 0.95
"""Part of the throughput at stress that is tried first, where nothing bounds the answer but its throughput."""
MOST_PROBES = 9
"""Batches that count at the most, once one has held; twice as many before that."""
FORGIVEN = 2
"""Batches that may fail without counting, as others took the job's cores."""


class Basis(StrEnum):
    """What an announced rate was seen in."""

    PRODUCTION = "production"
    """Batches as in production, at this rate and at one that did not hold."""
    PROBE = "probe"
    """A few short windows of the answer's round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldingRate:
    """The highest rate at which an answer holds, as far as it is known."""

    rate_per_s: float | None
    """The highest rate that held; None where none did."""
    fails_at_per_s: float | None
    """The lowest rate that did not hold; None where none was tried or all held."""
    basis: Basis
    batch_s: float | None = None
    """Length of the production batches that it was tried for; None where short windows are all there is."""
    probes: tuple[Verification, ...] = ()
    """The batches that were run, in their order."""

    @property
    def deciding(self) -> Verification | None:
        """The worst batch at the rate that held, else the last one that failed; None where none was run."""
        at_rate = [probe for probe in self.probes if probe.usual_per_s == self.rate_per_s]
        worst = max(at_rate, key=_bounded_ms, default=None)
        return worst or next(reversed(self.probes), None)


@dataclass(frozen=True, slots=True)
class UsualSpeed:
    """The speed that the machine had during a search, and how much of a change of it the job feels.

    What other programs took is left out: a rate is announced for a machine that is the job's.
    """

    machine: float = 1.0
    elasticity: float = 0.0
    """1 for a job that CPU bounds, 0 for one that waits."""

    @classmethod
    def of(cls, rounds: Sequence[Round], seen: Sequence[Observation] = ()) -> Self:
        """Read it off the windows of all rounds, and of all else that was `seen` meanwhile."""
        windows = [window for past in rounds for window in past.measurement.windows]
        speeds = [window.speed_index for window in (*windows, *seen) if window.speed_index > 0]
        if not speeds:
            return cls()
        return cls(statistics.geometric_mean(speeds), search_noise(windows_at_stress(rounds)).speed_slope)

    def relative(self, windows: Sequence[Observation]) -> float:
        """Return the speed in some windows in times the usual one, as the job feels it."""
        speeds = [window.speed_index for window in windows]
        if min(speeds) <= 0:
            return 1.0
        return math.pow(statistics.geometric_mean(speeds) / self.machine, self.elasticity)


def rate_that_holds(
    engine: Engine,
    topology: Topology,
    answer: Round,
    constraint: LatencyConstraint,
    production_batch_s: float,
    *,
    usual: UsualSpeed | None = None,
    deadline: Deadline | None = None,
    report: Listener = ignore,
) -> HoldingRate:
    """Run an answer with long batches at one rate after the other; the last is begun before the deadline.

    Each is offered as much more or less as the machine was faster or slower than usual in the batch before. A new
    deployment is still learning in its first batch: that counts only where the rate held. So does a batch in which
    other programs took the job's cores, up to `FORGIVEN` times.
    """
    usual = usual or UsualSpeed()
    configuration = answer.configuration
    batch_s = min(production_batch_s, LONGEST_BATCH_S)
    deadline = deadline or Deadline()
    start_per_s = configuration.offered_per_s or START * answer.throughput_per_s
    probes: list[Verification] = []
    deployment = engine.deploy(
        topology, configuration.throttled(None), Detail.LIGHT, fused=answer.trial.fused, window_s=batch_s
    )
    with closing(deployment):
        is_new, forgiven, speed = True, 0, 1.0
        while (rate := next_rate(probes, start_per_s)) is not None:
            most = MOST_PROBES if Bracket.of(probes).held_per_s is not None else 2 * MOST_PROBES
            if len(probes) >= most or (probes and deadline.left_s < batch_s):
                break
            offered = speed * rate
            report(VerificationStarted(configuration, offered, production_batch_s))
            seen = observed(deployment, offered, 1, Phase.VERIFICATION, configuration=configuration, report=report)
            speed = usual.relative(seen)
            probe = judged(seen, constraint, offered, batch_s, speed)
            in_vain = not probe.passed and any(map(is_disturbed, seen)) and forgiven < FORGIVEN
            if probe.passed or not (is_new or in_vain):
                probes.append(probe)
            forgiven += in_vain and not is_new
            is_new = False
    bracket = Bracket.of(probes)
    fails_at = None if all(probe.passed for probe in probes) else bracket.failed_per_s
    return HoldingRate(
        rate_per_s=bracket.held_per_s,
        fails_at_per_s=fails_at,
        basis=Basis.PRODUCTION,
        batch_s=production_batch_s,
        probes=tuple(probes),
    )


def rate_of_probes(answer: Round, constraint: LatencyConstraint) -> HoldingRate:
    """Return what the latency probes of the answer's own round say, where nothing else was run."""
    kept_per_s = answer.kept_per_s(constraint)
    return HoldingRate(rate_per_s=kept_per_s or None, fails_at_per_s=None, basis=Basis.PROBE)


def _bounded_ms(probe: Verification) -> float:
    return 0.0 if probe.latency_ms is None else probe.latency_ms.quantile(probe.latency_quantile)
