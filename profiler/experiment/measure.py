"""Measure one configuration: deploy it, bring it to its load, observe it until the windows are enough.

A measurement finds its own stress rate: twice the predicted capacity, raised while the job keeps up. A rate far
above the capacity does no harm: the engines bound what is under way, so that no more is sent than the job takes, and
what is held back counts as offered. 1.3 times, as published, is no stress any more where the machine has become a fifth
faster or the prediction was that much too low, and a rate that has to be raised costs a change of load. Warm-up ends by
a stationarity check, not by a fixed time; a measurement that is hopelessly below its reference ends early. One that is
clearly above does not: it becomes the reference of later rounds, and with fewer windows the answers are worse
(scripts/benches/results/quality.md).

Windows that others disturbed are measured again as long as that helps, half as many more at the most (`disturbed.py`),
and they end no round early.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from profiler.errors import ProfileError
from profiler.experiment.constraint import LatencyConstraint
from profiler.experiment.disturbed import causes, is_disturbed, is_worth_more_windows, least_disturbed
from profiler.experiment.engine import Deployment, Engine
from profiler.experiment.events import Listener, Phase, WindowSeen, ignore
from profiler.experiment.latency_probe import LatencyProbe, Probed
from profiler.experiment.observation import (
    Detail,
    Measurement,
    Observation,
    end_to_end_latency,
    generator_limits,
    hot_keys,
    summed_operators,
    typical_latency,
)
from profiler.experiment.window_plan import FEWEST_WINDOWS, WindowPlan
from profiler.job.configuration import Configuration
from profiler.job.topology import Topology
from profiler.statistics.doubt import Doubt
from profiler.statistics.stationarity import steady_start

FIRST_RATE_PER_S = 20_000.0
"""The rate that is offered to a job of unknown capacity."""
STRESS = 2.0
RAISE = 2.0
KEEPS_UP = 0.92
"""Part of the offered rate from which on a job is taken to keep up, so that the rate is no stress."""
WORTH_PROBING = 0.97
"""Part of its reference's throughput from which on a round may be accepted, so that its latency is wanted."""
CALM_LOAD = 0.2
HOPELESS = 0.7
"""Part of its reference's throughput below which a round whose windows are all there needs no more of them."""
RATE_CHANGES = 16
MEASURED_AGAIN = 0.5
"""Most windows that are measured in the place of disturbed ones, in parts of those that are wanted."""
COMPILING = 0.2
"""Cores that compilers take from which on an engine still becomes faster."""


_Chosen = tuple[tuple[Observation, ...], tuple[Observation, ...]]
"""The windows that count, and disturbed ones in whose place others do."""


@dataclass(frozen=True, slots=True)
class Load:
    """A configuration under load: what is deployed, and how closely it is looked at."""

    configuration: Configuration
    """Tasks, and the rate that is offered where it is limited; else it is stressed."""
    detail: Detail = Detail.LIGHT
    fused: bool = False
    """Whether the job runs as written today, without extra shuffles."""
    calm: bool = False
    """Whether a small stream is observed as well, for the application's features."""
    effort: int = 1
    """The factor of the number of windows, where a finer comparison is needed."""
    predicted_per_s: float | None = None
    """The capacity that is expected, which sets the first stress rate."""
    constraint: LatencyConstraint | None = None
    """The latency that the job has to keep: where 90 % of the throughput breaks it, lower rates are probed."""


def measure(
    engine: Engine,
    topology: Topology,
    load: Load,
    design: WindowPlan,
    *,
    reference_per_s: float | None = None,
    cold_s: float = 0.0,
    report: Listener = ignore,
) -> Measurement:
    """Deploy a configuration, bring it to its load, observe it until the windows are enough, and take it down.

    One that is far below `reference_per_s` is not observed to its end. `cold_s` seconds under load are let pass first,
    for an engine that is new.
    """
    with closing(engine.deploy(topology, load.configuration, load.detail, fused=load.fused)) as deployment:
        observer = _Observer(deployment, topology, load, design, engine.window_s, cold_s, report)
        if load.configuration.offered_per_s is not None:
            return observer.throttled(load.configuration.offered_per_s)
        return observer.stressed(reference_per_s)


def observed(
    deployment: Deployment,
    rate_per_s: float,
    windows: int,
    phase: Phase,
    *,
    configuration: Configuration,
    report: Listener,
) -> tuple[Observation, ...]:
    """Observe so many windows at one rate, and tell of each as it ends."""
    seen: list[Observation] = []
    if windows > 0:
        for window in deployment.observe(rate_per_s, windows):
            seen.append(window)
            report(WindowSeen(phase, len(seen), windows, configuration, window))
    return tuple(seen)


class _Observer:
    """One deployment being observed."""

    def __init__(
        self,
        deployment: Deployment,
        topology: Topology,
        load: Load,
        design: WindowPlan,
        window_s: float,
        cold_s: float,
        report: Listener,
    ) -> None:
        self.deployment = deployment
        self.topology = topology
        self.load = load
        self.design = design
        self.report = report
        self.wanted = design.windows * load.effort
        self.again = math.ceil(MEASURED_AGAIN * self.wanted)
        """The most windows in the place of disturbed ones."""
        self.window_s = window_s
        self.cold_s = cold_s
        """Seconds under load that a new engine still needs."""
        self.compiling_s = (design.longest_cold - 1) * cold_s
        """Seconds after those that it may still be loaded, as long as it compiles."""

    def stressed(self, reference_per_s: float | None) -> Measurement:
        """Observe under stress, then probe the latency where the round may become the incumbent."""
        rate, windows, left_out, doubts = self._under_stress(reference_per_s)
        throughput = statistics.fmean(window.throughput_per_s for window in windows)
        if throughput <= 0:
            raise ProfileError(
                f"No row came through {self.load.configuration}.", hint="Look into the engine's log for the reason."
            )
        worth_probing = reference_per_s is None or throughput >= WORTH_PROBING * reference_per_s
        probed = self._probe().below(throughput) if worth_probing else Probed((), None)
        calm = self._settled(CALM_LOAD * throughput, self.design.calm, Phase.CALM) if self.load.calm else ()
        return Measurement(
            configuration=self.load.configuration,
            offered_per_s=rate,
            windows=windows,
            calm=calm,
            latency_ms=typical_latency(probed.windows),
            latency_at_per_s=probed.windows[0].offered_per_s if probed.windows else None,
            kept_per_s=probed.kept_per_s,
            end_to_end_ms=end_to_end_latency(probed.windows),
            doubts=self._doubts(windows, left_out, (*doubts, *_of_latency(probed.windows))),
            left_out=left_out,
        )

    def throttled(self, rate_per_s: float) -> Measurement:
        """Observe at a limited rate; its windows tell throughput and latency at once."""
        windows, left_out = self._warm(rate_per_s)
        return Measurement(
            configuration=self.load.configuration,
            offered_per_s=rate_per_s,
            windows=windows,
            latency_ms=typical_latency(windows),
            latency_at_per_s=rate_per_s,
            kept_per_s=rate_per_s if self._keeps(windows) else None,
            end_to_end_ms=end_to_end_latency(windows),
            doubts=self._doubts(windows, left_out, _of_latency(windows)),
            left_out=left_out,
        )

    def _warm(self, rate: float) -> _Chosen:
        """Observe at a limited rate; what a new engine does at first is not kept."""
        most_cold = self._most_cold_windows()
        seen: list[Observation] = []
        cold = 0
        for window in self.deployment.observe(rate, most_cold + self.wanted + self.again):
            if self._is_cold(window):
                cold += 1
                phase, index, planned = Phase.WARM_UP, cold, most_cold
            else:
                seen.append(window)
                phase, index, planned = Phase.THROTTLED, len(seen), max(self.wanted, len(seen))
            self.report(WindowSeen(phase, index, planned, self.load.configuration, window))
            if self._are_enough(seen):
                break
        return least_disturbed(seen, self.wanted)

    def _probe(self) -> LatencyProbe:
        return LatencyProbe(self._probing, self.design.probe, self.load.constraint)

    def _probing(self, rate: float, most: int) -> Iterator[Observation]:
        """Observe at a rate for a probe, which may end early."""
        for index, window in enumerate(self.deployment.observe(rate, most), start=1):
            planned = max(index, self.design.probe)
            self.report(WindowSeen(Phase.PROBE, index, planned, self.load.configuration, window))
            yield window

    def _keeps(self, windows: Sequence[Observation]) -> bool:
        latency, constraint = typical_latency(windows), self.load.constraint
        return latency is not None and constraint is not None and constraint.is_met_by(latency)

    def _under_stress(
        self, reference_per_s: float | None
    ) -> tuple[float, tuple[Observation, ...], tuple[Observation, ...], tuple[Doubt, ...]]:
        predicted = self.load.predicted_per_s
        rate = STRESS * predicted if predicted else FIRST_RATE_PER_S
        for _ in range(RATE_CHANGES):
            keeps_up, (windows, left_out), doubts = self._at(rate, reference_per_s)
            if not keeps_up:
                return rate, windows, left_out, doubts
            rate *= RAISE
        return rate / RAISE, windows, left_out, (*doubts, Doubt.NOT_SATURATED)

    def _at(self, rate: float, reference_per_s: float | None) -> tuple[bool, _Chosen, tuple[Doubt, ...]]:
        """Observe at one rate; tell whether the job keeps up with it, so that it is no stress, else the windows."""
        seen: list[Observation] = []
        cold = 0
        most = self._most_windows()
        for window in self.deployment.observe(rate, most + self.again):
            seen.append(window)
            if self._is_cold(window):
                cold = len(seen)
            steady = _steady(seen[cold:])
            phase, index, planned = (
                (Phase.STRESS, len(steady), max(self.wanted, len(steady)))
                if steady
                else (Phase.WARM_UP, len(seen), self.design.warm_up)
            )
            self.report(WindowSeen(phase, index, planned, self.load.configuration, window))
            if _keeps_up(rate, seen):
                return True, (tuple(seen), ()), ()
            if self._are_enough(steady) or _is_hopeless(steady, reference_per_s):
                return False, least_disturbed(steady, self.wanted), ()
            if len(seen) >= most and len(steady) < self.wanted:
                break
        return False, least_disturbed(seen[-self.wanted :], self.wanted), (Doubt.NOT_STATIONARY,)

    def _are_enough(self, windows: Sequence[Observation]) -> bool:
        """Tell whether these are the windows of a round, some of them measured in the place of disturbed ones."""
        most = self.wanted + self.again
        return len(windows) >= most or (len(windows) >= self.wanted and not is_worth_more_windows(windows, self.wanted))

    def _is_cold(self, window: Observation) -> bool:
        """Tell whether the engine was new in this window, and count it."""
        if self.cold_s > 0:
            self.cold_s -= window.duration_s
            return True
        if (window.compiling_cores or 0.0) < COMPILING:
            self.compiling_s = 0.0
        self.compiling_s -= window.duration_s
        return self.compiling_s > 0

    def _doubts(
        self, windows: Sequence[Observation], left_out: Sequence[Observation], known: Sequence[Doubt]
    ) -> tuple[Doubt, ...]:
        doubts = list(known)
        if generator_limits(windows):
            doubts.append(Doubt.GENERATOR_LIMITED)
        if sum(window.overran for window in windows) > len(windows) / 2:
            doubts.append(Doubt.BATCH_OVERRUN)
        if len(windows) < FEWEST_WINDOWS:
            doubts.append(Doubt.TOO_FEW_WINDOWS)
        if hot_keys(summed_operators(windows), self.topology.keyed):
            doubts.append(Doubt.HOT_KEY)
        if any(map(causes, (*windows, *left_out))):
            doubts.append(Doubt.DISTURBED)
        return tuple(doubts)

    def _most_windows(self) -> int:
        return self._most_cold_windows() + self.design.warm_up + self.wanted

    def _most_cold_windows(self) -> int:
        return math.ceil((self.cold_s + max(0.0, self.compiling_s)) / self.window_s)

    def _settled(self, rate: float, windows: int, phase: Phase) -> tuple[Observation, ...]:
        """Observe at a rate the job can follow; a deployment's first window begins after the change of load."""
        return observed(
            self.deployment, rate, windows, phase, configuration=self.load.configuration, report=self.report
        )


def _steady(seen: Sequence[Observation]) -> Sequence[Observation]:
    """Return the windows after the warm-up; none while the throughput still moves.

    What a neighbour took is no warm-up: disturbed windows tell nothing of it, unless most are.
    """
    telling = [index for index, past in enumerate(seen) if not is_disturbed(past)]
    if 2 * len(telling) < len(seen):
        telling = list(range(len(seen)))
    start = steady_start([seen[index].throughput_per_s for index in telling])
    return [] if start is None else seen[telling[start] :]


def _keeps_up(rate: float, seen: Sequence[Observation]) -> bool:
    """Tell whether the job follows the rate; two windows are looked at together, as one alone may be an outlier.

    A generator at its limit is not followed but slow itself: a higher rate would change nothing.
    """
    if len(seen) < 2 or all(window.generator_limited for window in seen[-2:]):
        return False
    return statistics.fmean(window.throughput_per_s for window in seen[-2:]) >= KEEPS_UP * rate


def _is_hopeless(steady: Sequence[Observation], reference_per_s: float | None) -> bool:
    undisturbed = [window.throughput_per_s for window in steady if not is_disturbed(window)]
    if reference_per_s is None or len(undisturbed) < FEWEST_WINDOWS:
        return False
    return max(undisturbed) < HOPELESS * reference_per_s


def _of_latency(probe: Sequence[Observation]) -> tuple[Doubt, ...]:
    return (Doubt.LATENCY_UNKNOWN,) if probe and typical_latency(probe) is None else ()
