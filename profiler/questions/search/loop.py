"""The profile: ask the policy, measure, test, let it decide, repeat; confirm the answer at the end.

The loop owns no strategy and prints nothing. What happens is told as events, so that the panel and the store see a
round when it is over, not when the profile is. Rounds of an interrupted run are fed to the policy as they were
(`history`), so that nothing is measured twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from profiler.experiment.clock import BlockTime, Deadline, RoundTime
from profiler.experiment.comparing.blocks import Arm, Blocks
from profiler.experiment.comparing.confrontation import confront
from profiler.experiment.comparing.standing import fit_at_once, shorter_blocks
from profiler.experiment.constraint import LatencyConstraint
from profiler.experiment.engine import Engine
from profiler.experiment.events import (
    Event,
    Listener,
    Phase,
    RoundDecided,
    RoundMeasured,
    SearchEnded,
    TrialStarted,
    WindowSeen,
    ignore,
)
from profiler.experiment.measure import Load
from profiler.experiment.observation import Measurement, Observation
from profiler.experiment.rounds import Round, Trial
from profiler.experiment.warmth import Warmth
from profiler.experiment.window_plan import WindowPlan
from profiler.job.topology import Topology
from profiler.questions.search.choice import answer_of, deployed, runner_up_of, today_left_out, unless_in_vain
from profiler.questions.search.holding import HoldingRate, UsualSpeed, rate_of_probes, rate_that_holds
from profiler.questions.search.policies.policy import Parameters, Policy, SearchContext, require_asked_for
from profiler.questions.search.readings.evidence import screened
from profiler.questions.search.result import Confirmation, SearchResult
from profiler.statistics.result import Comparison, Verdict


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Seconds from its beginning by which parts of a profile are to end; None is no limit."""

    search_s: float | None = None
    """Seconds after which no round should end: none starts that would."""
    confirmed_s: float | None = None
    """Seconds before which a confirmation should end: it has as many blocks as fit, and `FEWEST_BLOCKS` of each arm at
    the least."""
    ends_s: float | None = None
    """Seconds before which the last batch at a rate should end; the first one is run in any case."""


FEWEST_BLOCKS = 3


@dataclass(slots=True)
class Loop:
    """Run one profile; see the module's text."""

    engine: Engine
    topology: Topology
    policy: Policy
    parameters: Parameters = field(default_factory=Parameters)
    design: WindowPlan = field(default_factory=WindowPlan)
    report: Listener = ignore
    slots: int | None = None
    budget_s: float | None = None
    limits: TimeLimits = field(default_factory=TimeLimits)
    """The limits where there is no budget."""
    production_batch_s: float | None = None
    """Length of production's batches, for which a rate is looked for that holds; None leaves it at what the latency
    probes told."""
    clock: Callable[[], float] = time.monotonic
    _warmth: Warmth = field(init=False)
    _times: BlockTime | None = field(default=None, init=False)
    _blocks_seen: list[Observation] = field(default_factory=list, init=False)
    """The windows of the confirmation, which met the machine in many states."""

    def __post_init__(self) -> None:
        """Begin with an engine that knows nothing yet."""
        self._warmth = Warmth(self.engine)

    def run(self, history: Sequence[Round] = ()) -> SearchResult:
        """Search, then confirm; rounds in `history` are taken as measured."""
        budget = Deadline.within(self.budget_s, self.clock)
        searching = Deadline.within(self.limits.search_s if self.budget_s is None else self.budget_s, self.clock)
        ending = Deadline.within(self.limits.ends_s if self.budget_s is None else self.budget_s, self.clock)
        confirmed_s = self.limits.confirmed_s
        self._times = None if confirmed_s is None else BlockTime(Deadline.within(confirmed_s, self.clock))
        context = self.context()
        rounds, complete = self._search(context, list(history), RoundTime(searching))
        answer, notes = answer_of(rounds, context)
        platform = self.engine.platform
        profile = SearchResult(
            topology=self.topology,
            context=context,
            platform=platform,
            extra_slots=platform.slots - self.engine.slots_for(self.topology),
            policy=self.policy.name,
            rounds=tuple(rounds),
            answer=answer,
            initial=rounds[0],
            notes=(*notes, *today_left_out(rounds[0], context)),
            complete=complete,
        )
        self._tell(SearchEnded(profile.answer, profile.initial))
        is_new = deployed(profile.answer) != deployed(profile.initial)
        if self.design.blocks >= 2 and is_new and not budget.is_over:
            profile = self._confirmed(profile)
        batch_s = None if budget.is_over else self.production_batch_s
        holding = self._holding(profile, batch_s, ending)
        return replace(profile, holding=holding, is_warm=self._warmth.is_warm)

    def _tell(self, event: Event) -> None:
        if self._times is not None:
            self._times(event)
        if isinstance(event, WindowSeen) and event.phase is Phase.BLOCK:
            self._blocks_seen.append(event.observation)
        self.report(event)

    def context(self) -> SearchContext:
        """Return what the policy may know; the user's slots bound the engine's."""
        platform, slots = self.engine.platform, self.engine.slots_for(self.topology)
        slots = slots if self.slots is None else min(self.slots, slots)
        return SearchContext(self.topology, slots, platform.cores, platform.nodes, self.parameters)

    def _search(self, context: SearchContext, history: list[Round], time_left: RoundTime) -> tuple[list[Round], bool]:
        plan = self.policy.plan(context)
        rounds: list[Round] = []
        move = next(plan, None)
        while move is not None:
            if isinstance(move, Trial):
                past = history[len(rounds)] if len(rounds) < len(history) else None
                if rounds and past is None and not time_left.allows_a_round:
                    plan.close()
                    return rounds, False
                began_s = self.clock()
                measured = self._round(move, rounds, past)
                if past is None:
                    time_left.note_round(self.clock() - began_s)
                rounds.append(measured)
                answer: Round | None = measured
            else:
                rounds[-1] = rounds[-1].decided(move)
                self._tell(RoundDecided(rounds[-1]))
                answer = None
            try:
                move = plan.send(answer)
            except StopIteration:
                break
        return rounds, True

    def _round(self, trial: Trial, rounds: Sequence[Round], past: Round | None) -> Round:
        reference = rounds[trial.against - 1] if trial.against is not None else None
        if past is not None:
            require_asked_for(past, trial)
            # It may have been compared with another round, by an older version.
            comparison = self._compared(reference, past.measurement, rounds)
            return replace(past, trial=trial, comparison=comparison, decision=None)
        number = len(rounds) + 1
        self._tell(TrialStarted(number, trial))
        measurement = self._warmth.measured(
            self.topology,
            _load(trial, self.parameters.constraint),
            self.design,
            reference_per_s=reference.throughput_per_s if reference else None,
            report=self._tell,
        )
        measured = Round(number, trial, measurement, self._compared(reference, measurement, rounds))
        self._tell(RoundMeasured(measured))
        return measured

    def _compared(
        self, reference: Round | None, measurement: Measurement, rounds: Sequence[Round]
    ) -> Comparison | None:
        return None if reference is None else screened(reference.measurement, measurement, rounds, self.parameters)

    def _warm_up(self, arm: Arm) -> None:
        """Load an engine that has measured nothing yet for as long as it is cold; what is seen does not count."""
        windows = self._warmth.windows_left()
        if windows > 0:
            design = replace(self.design, block_warm_up=0, block=windows, block_probe=0)
            warm_up = replace(arm, name="warm-up")
            list(Blocks(self.engine, self.topology, [warm_up], design, self._tell).in_turn([0]))
        self._warmth.is_warm = True

    def _holding(self, profile: SearchResult, batch_s: float | None, ending: Deadline) -> HoldingRate:
        """Find the rate that the answer holds; without time for it, what its own round's probes told."""
        answer, constraint = profile.answer, self.parameters.constraint
        if batch_s is None:
            return rate_of_probes(answer, constraint)
        return rate_that_holds(
            self.engine,
            self.topology,
            answer,
            constraint,
            batch_s,
            usual=UsualSpeed.of(profile.rounds, self._blocks_seen),
            deadline=ending,
            report=self._tell,
        )

    def _blocks_in_time(self, design: WindowPlan, arms: int, *, standing: bool) -> int:
        """Choose the blocks per arm before any of them is seen: what they say must not decide how many there are."""
        times = self._times
        if times is None:
            return design.blocks
        return min(design.blocks, max(FEWEST_BLOCKS, times.fitting(design, arms, standing=standing)))

    def _confirmed(self, profile: SearchResult) -> SearchResult:
        """Measure the answer against the initial configuration and the runner-up, interleaved."""
        runner_up = runner_up_of(profile)
        others = [profile.initial] if runner_up is None else [profile.initial, runner_up]
        arms = [_arm(measured) for measured in (profile.answer, *others)]
        alpha = self.parameters.significance
        self._warm_up(arms[0])
        standing = fit_at_once(self.engine, [(self.topology, arm.configuration) for arm in arms])
        design = shorter_blocks(self.design) if standing else self.design
        design = replace(design, blocks=self._blocks_in_time(design, len(arms), standing=standing))
        found = confront(
            self.engine, self.topology, arms, design, alpha=alpha, rivals=(2,), standing=standing, report=self._tell
        )
        made = tuple(Confirmation(other.number, found.against[index]) for index, other in enumerate(others, start=1))
        if runner_up is None or found.against[2].verdict is not Verdict.DECREASED:
            return unless_in_vain(replace(profile, confirmations=made))
        swapped = found.compared(1, 2, found.part * alpha)
        note = f"the confirmation preferred round {runner_up.number} to round {profile.answer.number}"
        return unless_in_vain(
            replace(
                profile,
                answer=runner_up,
                confirmations=(Confirmation(profile.initial.number, swapped),),
                notes=(*profile.notes, note),
            )
        )


def _load(trial: Trial, constraint: LatencyConstraint) -> Load:
    """Return what a trial loads the engine with; why it is tried is the policy's."""
    return Load(
        trial.configuration,
        trial.detail,
        trial.fused,
        trial.calm,
        trial.effort,
        trial.predicted_per_s,
        constraint,
    )


def _arm(measured: Round) -> Arm:
    return Arm(measured.configuration, measured.throughput_per_s, fused=measured.trial.fused)
