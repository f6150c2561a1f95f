"""The measurements of `scripts/bench answer`, each on an engine of its own that is opened for it.

Five minutes at a rate are ten batches of half a minute, after one that does not count: so a deployment has settled, as
production's has, the latencies are weighed as in one batch of five minutes (`weighting` measures whether that is
right), and every batch tells how fast the machine was. A first batch of five minutes would count the deployment's
beginning, and be measured again as a whole where that took too long.
"""

from __future__ import annotations

import math
import os
import statistics
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from profiler.engines.opening import opened_engine
from profiler.experiment.clock import Deadline
from profiler.experiment.comparing.blocks import Arm, Blocks
from profiler.experiment.constraint import LatencyConstraint
from profiler.experiment.disturbed import is_disturbed
from profiler.experiment.engine import Deployment, Engine
from profiler.experiment.events import Event, Phase, RoundDecided, SearchEnded, WindowSeen
from profiler.experiment.measure import Load
from profiler.experiment.observation import Detail, Latency, Observation
from profiler.experiment.rounds import Action, Round, Step, Trial
from profiler.experiment.warmth import Warmth
from profiler.experiment.window_plan import LONGEST_BATCH_S, WindowPlan
from profiler.questions.fitting import fitted_to
from profiler.questions.search.holding import UsualSpeed, rate_that_holds
from profiler.questions.search.policies import POLICIES
from profiler.questions.search.session import loop_on
from profiler.questions.search.terms import SearchTerms, search_design
from profiler.questions.search.verification import KEPT_UP, judged
from profiler.settings.declarations import Settings
from scripts.benches.answer_jobs import Job, Tasks
from scripts.benches.answers import announced_per_s
from scripts.benches.warm_engine import note

ENOUGH = 0.85
"""Part of the highest rate that holds which an announced one has to be."""
BATCHES = 10
"""Batches that make five minutes."""
HELD_S = 330.0
"""Seconds before which the last batch at a rate begins, where it is looked for what a configuration holds."""
WEIGHED_LOAD = 0.3
"""Part of the throughput at stress that each of two deployments is offered to compare their batches."""
_WARM_UP = WindowPlan(windows=2, warm_up=6, probe=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiled:
    """What one profile said."""

    at: str
    load: float
    """The machine's load average when it began, of all programs."""
    tasks: Tasks
    capacity_per_s: float
    """Throughput of the answer under stress, as its round saw it."""
    announced_per_s: float
    """The rate that it holds; 0 where none is announced."""
    fails_at_per_s: float | None
    latency_ms: float | None
    """The bounded quantile in the batch that decided on that rate."""
    set_up_s: float
    answer_s: float
    """Seconds from the call to the answer that is not confirmed yet, set-up included."""
    whole_s: float
    rounds: int
    loop_s: float | None
    """What the engine measured speeds by."""
    speed: float
    """The usual speed of the machine in the search, by that measure, without what other programs took."""
    elasticity: float

    @classmethod
    def of(cls, saved: dict[str, Any]) -> Profiled:
        """Read it as it was kept."""
        return cls(**{**saved, "tasks": tuple(saved["tasks"])})

    @property
    def slots(self) -> int:
        """Tasks of the answer."""
        return sum(self.tasks)

    @property
    def usual(self) -> UsualSpeed:
        """The speed of a machine of the job's own that the announced rate is meant for."""
        return UsualSpeed(self.speed, self.elasticity)

    def felt(self, windows: Sequence[Observation]) -> float:
        """Return the speed in some windows, with what other programs left of it, as the job feels it."""
        speeds = [window.machine_speed for window in windows]
        if min(speeds) <= 0:
            return 1.0
        return float(math.pow(statistics.geometric_mean(speeds) / self.speed, self.elasticity))

    def per_s_at(self, other: Profiled) -> float:
        """Return what the announced rate is worth at the usual speed of another profile of the job."""
        one_measure = (self.loop_s or 1.0) / (other.loop_s or 1.0)
        relative = self.speed / one_measure / other.speed
        return self.announced_per_s / relative**other.elasticity


def profile(job: Job) -> dict[str, Any]:
    """Profile a job as `profile run` does, on an engine that knows nothing; nothing is stored."""
    settings = fitted_to((job.topology,), Settings())
    at, load = _now()
    began_s, answers_s, blocks = time.monotonic(), [], []

    def listen(event: Event) -> None:
        if isinstance(event, RoundDecided):
            note(f"  round {event.round.number}: {event.round.configuration} {event.round.throughput_per_s:,.0f}/s")
        elif isinstance(event, SearchEnded):
            answers_s.append(time.monotonic() - began_s)
        elif isinstance(event, WindowSeen) and event.phase is Phase.BLOCK:
            blocks.append(event.observation)

    with opened_engine(job.topology, settings, note) as engine:
        set_up_s = time.monotonic() - began_s
        found = loop_on(
            engine,
            job.topology,
            POLICIES[settings.policy](),
            SearchTerms.of(settings),
            listen,
            production_batch_s=settings.production_batch_s,
        ).run()
        whole_s, loop_s = time.monotonic() - began_s, engine.platform.loop_s
    usual, holding = UsualSpeed.of(found.rounds, blocks), found.holding
    deciding = None if holding is None else holding.deciding
    latency = None if deciding is None else deciding.latency_ms
    answer = found.answer.configuration
    profiled = Profiled(
        at=at,
        load=load,
        tasks=tuple(answer[name] for name in job.topology.names),
        capacity_per_s=found.answer.throughput_per_s,
        announced_per_s=announced_per_s(found),
        fails_at_per_s=None if holding is None else holding.fails_at_per_s,
        latency_ms=None if latency is None or deciding is None else latency.quantile(deciding.latency_quantile),
        set_up_s=set_up_s,
        answer_s=answers_s[0],
        whole_s=whole_s,
        rounds=len(found.rounds),
        loop_s=loop_s,
        speed=usual.machine,
        elasticity=usual.elasticity,
    )
    return asdict(profiled)


def keeps(job: Job, profiled: Profiled) -> dict[str, Any]:
    """Offer the announced rate for five minutes, and then so much more that an announced one must not hold there."""
    at, load = _now()
    with _warm(job, profiled) as engine:
        configuration = job.configuration(profiled.tasks)
        deployment = engine.deploy(job.topology, configuration, Detail.LIGHT, window_s=LONGEST_BATCH_S)
        with closing(deployment):
            list(deployment.observe(profiled.announced_per_s, 1))
            announced = _five_minutes(job, deployment, profiled, profiled.announced_per_s)
            higher = _five_minutes(job, deployment, profiled, profiled.announced_per_s / ENOUGH)
    return {"at": at, "load": load, "announced": announced, "higher": higher}


def _five_minutes(job: Job, deployment: Deployment, profiled: Profiled, rate_per_s: float) -> dict[str, Any]:
    constraint = _constraint(job)
    seen: list[Observation] = []
    with closing(deployment.observe(rate_per_s, BATCHES)) as windows:  # type: ignore[type-var]
        for window in windows:
            seen.append(window)
            one = judged([window], constraint, rate_per_s, LONGEST_BATCH_S)
            note(
                f"  {rate_per_s:,.0f}/s, batch {len(seen)}: {one.came_through_per_s:,.0f}/s came through, {one.passed}"
            )
            if lacks_too_much(seen):
                break
    found = judged(seen, constraint, rate_per_s, LONGEST_BATCH_S)
    return {
        "per_s": rate_per_s,
        "passed": found.passed,
        "latency_met": found.latency_met,
        "queue_grew": found.queue_grew,
        "came_through_per_s": found.came_through_per_s,
        "latency_ms": None if found.latency_ms is None else constraint.bounded_ms(found.latency_ms),
        "batches": len(seen),
        "disturbed": sum(map(is_disturbed, seen)),
        "relative_speed": profiled.felt(seen),
    }


def lacks_too_much(seen: Sequence[Observation]) -> bool:
    """Tell whether more rows are missing already than may be after all batches; what is too much is not waited for."""
    missing = sum(window.offered_rows - window.source_rows for window in seen)
    whole = BATCHES / len(seen) * sum(window.offered_rows for window in seen)
    return missing > (1 - KEPT_UP) * whole


def turn(job: Job, reference: Profiled, tasks: Sequence[Tasks]) -> dict[str, Any]:
    """Measure a block under stress of each of these, in their order; those that do not fit the slots are left out."""
    at, load = _now()
    with _warm(job, reference) as engine:
        fitting = [each for each in tasks if sum(each) <= engine.slots_for(job.topology)]
        arms = [Arm(job.configuration(each), reference.capacity_per_s) for each in fitting]
        blocks = Blocks(engine, job.topology, arms, search_design(_settings(job)))
        measured = []
        for block in blocks.in_turn(range(len(arms))):
            rows, seconds = (sum(getattr(each, of) for each in block.windows) for of in ("source_rows", "duration_s"))
            at_usual_per_s = rows / seconds / reference.felt(block.windows)
            note(f"  {fitting[block.arm]}: {rows / seconds:,.0f}/s, {at_usual_per_s:,.0f}/s at the usual speed")
            measured.append({"tasks": fitting[block.arm], "per_s": rows / seconds, "at_usual_per_s": at_usual_per_s})
    left_out = [each for each in tasks if each not in fitting]
    return {"at": at, "load": load, "blocks": measured, "left_out": left_out}


def held(job: Job, reference: Profiled, tasks: Tasks) -> dict[str, Any]:
    """Find the rate that a configuration holds, at the usual speed of the reference."""
    at, load = _now()
    trial = Trial(job.configuration(tasks), Step.SEARCH, Action.JUMP)
    settings = _settings(job)
    with _opened(job, reference) as engine:
        seen = Warmth(engine).measured(job.topology, Load(trial.configuration), _WARM_UP)
        found = rate_that_holds(
            engine,
            job.topology,
            Round(1, trial, seen),
            _constraint(job),
            settings.production_batch_s,
            usual=reference.usual,
            deadline=Deadline.within(HELD_S),
        )
    note(f"  {tasks} holds {found.rate_per_s or 0:,.0f}/s")
    return {
        "at": at,
        "load": load,
        "tasks": tasks,
        "per_s": found.rate_per_s or 0.0,
        "fails_at_per_s": found.fails_at_per_s,
    }


def weighting(job: Job, reference: Profiled) -> dict[str, Any]:
    """Run batches of production's length and short ones that are weighed so, in the same minutes, at the same rate.

    The first long one does not count, nor do the short ones until it ends: it has the deployment's beginning in it.
    """
    at, load = _now()
    configuration = job.configuration(reference.tasks)
    long_s = _settings(job).production_batch_s
    with _opened(job, reference) as engine:
        seen = Warmth(engine).measured(job.topology, Load(configuration), _WARM_UP)
        rate_per_s = WEIGHED_LOAD * seen.throughput_per_s
        with (
            closing(engine.deploy(job.topology, configuration, Detail.LIGHT, window_s=long_s)) as long,
            closing(engine.deploy(job.topology, configuration, Detail.LIGHT, window_s=LONGEST_BATCH_S)) as short,
            ThreadPoolExecutor(2) as both,
        ):
            whole = both.submit(lambda: list(long.observe(rate_per_s, 2)))
            parts = both.submit(lambda: list(short.observe(rate_per_s, round(2 * long_s / LONGEST_BATCH_S) + 1)))
            production = whole.result()[-1]
            weighed = [each for each in parts.result() if each.start_s >= production.start_s]
    return {
        "at": at,
        "load": load,
        "per_s": rate_per_s,
        "long": _quantiles([production]),
        "short": _quantiles(weighed),
        "batches": len(weighed),
    }


def _quantiles(windows: Sequence[Observation]) -> dict[str, float]:
    told = Latency.of_rows(each.processing_rows for each in windows if each.processing_rows is not None)
    return {"p50": told.p50, "p95": told.p95, "p99": told.p99}


@contextmanager
def _warm(job: Job, reference: Profiled) -> Iterator[Engine]:
    with _opened(job, reference) as engine:
        Warmth(engine).measured(job.topology, Load(job.configuration(reference.tasks)), _WARM_UP)
        yield engine


@contextmanager
def _opened(job: Job, reference: Profiled) -> Iterator[Engine]:
    """Open an engine that measures speeds as another one did."""
    with opened_engine(job.topology, _settings(job), note) as engine:
        if reference.loop_s is not None:
            engine.measure_speed_by(reference.loop_s)
        yield engine


def _settings(job: Job) -> Settings:
    return fitted_to((job.topology,), Settings())


def _constraint(job: Job) -> LatencyConstraint:
    return SearchTerms.of(_settings(job)).parameters.constraint


def _now() -> tuple[str, float]:
    return datetime.now(UTC).isoformat(timespec="seconds"), os.getloadavg()[0]
