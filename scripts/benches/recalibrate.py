"""What does a warm start save? Rounds of a recalibration against those of a profile from the beginning, simulated.

The six workloads on the paper's cluster (six nodes of two cores), each profiled cold and then recalibrated on another
seed: unchanged, and with half of the slots. Where the preset hides something of the cluster, which depends on the seed,
the seed stays: it must be the same cluster. Saved is 1 − rounds of all recalibrations / rounds of all cold profiles in
the same situation. The answer's noise-free throughput is compared with that of the cold profile. To confirm everything
would save the most, so there is a third recalibration, of a job whose rows cost a quarter more although nothing seems
to have changed: is that noticed? An interval is a bootstrap's over the profiles, at 95 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache

import numpy as np
from scipy import stats

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.noise import Preset
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.experiment.rounds import Action, Step
from profiler.experiment.window_plan import WindowPlan
from profiler.job.loading import load_topology
from profiler.job.topology import Cost, Topology
from profiler.questions.recalibrate.decision import RecalibrationVerdict, verdict
from profiler.questions.recalibrate.warm_start import Scope, WarmStart
from profiler.questions.search.loop import Loop
from profiler.questions.search.policies.policy import Policy
from profiler.questions.search.policies.stepwise import Stepwise
from profiler.questions.search.result import SearchResult
from profiler.questions.search.stored_profile import StoredProfile, StoredRounds
from scripts.benches.rows import Row, row
from scripts.benches.saved import Saved

WORKLOADS = ("linear", "diamond", "star", "word-count", "synthetic-word-count", "twitter-sentiment")
SEEDS = 10
NODES, CORES = 6, 2
SLOTS = 4 * NODES * CORES
GOAL = 0.6
MOST_ROUNDS = 2
DEARER = 1.25
"""Times what a row costs."""
_DESIGN = WindowPlan(blocks=0)
MEASURED = (
    "profiler/questions/search",
    "profiler/statistics",
    "profiler/engines/simulated",
    "profiler/experiment",
    "profiler/questions/search/loop.py",
    "profiler/questions/recalibrate/decision.py",
    "workloads",
    "scripts/benches/recalibrate.py",
)
"""Code whose change makes earlier results stale."""


@dataclass(frozen=True, slots=True)
class Case:
    """Rounds of one workload, cold and warm."""

    workload: str
    preset: str
    seed: int
    cold: int
    unchanged: int
    """Rounds until the unchanged profile was confirmed."""
    verdict: str
    """What the recalibration says of the unchanged profile: a stored answer that stands in doubt is not confirmed."""
    cold_halved: int
    """Rounds of a cold profile on half of the slots."""
    halved: int
    part: float
    """Noise-free throughput of the recalibrated answer on half of the slots, over the cold one's."""
    loss: float
    """Noise-free throughput that the stored answer loses where rows cost more."""
    noticed: bool
    """That loss was noticed: the answer was searched for anew."""


def rows() -> Iterator[Row]:
    """Run all profiles that were not run yet, and yield the figures."""
    for preset in Preset:
        cases = [case_of(name, preset, seed) for name in WORKLOADS for seed in range(SEEDS)]
        for name in WORKLOADS:
            own = [case for case in cases if case.workload == name]
            yield _saved_row(f"{preset}: {name}, rounds saved", own, "cold", "unchanged", None)
        yield _saved_row(f"{preset}: rounds saved, unchanged", cases, "cold", "unchanged", GOAL)
        quickly = [case.verdict == RecalibrationVerdict.CONFIRMED and case.unchanged <= MOST_ROUNDS for case in cases]
        yield row(f"{preset}: confirmed within two rounds", sum(quickly) / len(cases), 1.0, n=len(cases))
        for called in (RecalibrationVerdict.CHANGED, RecalibrationVerdict.INCONCLUSIVE):
            told = sum(case.verdict == called for case in cases) / len(cases)
            yield row(f"{preset}: unchanged, called {called}", told, better="lower", n=len(cases))
        lost = f"loss of throughput {np.mean([case.loss for case in cases]):.1%}"
        noticed = sum(case.noticed for case in cases) / len(cases)
        yield row(f"{preset}: rows that cost more, noticed", noticed, against=lost, n=len(cases))
        yield _saved_row(f"{preset}: rounds saved, slots halved", cases, "cold_halved", "halved", None)
        parts = [case.part for case in cases]
        yield row(
            f"{preset}: slots halved, throughput of the answer", float(np.mean(parts)), against="cold", n=len(parts)
        )
        yield row(f"{preset}: slots halved, worst of these", min(parts), against="cold", n=len(parts))


def _saved_row(quantity: str, cases: Sequence[Case], cold: str, warm: str, goal: float | None) -> Row:
    before, after = (np.array([getattr(case, field) for case in cases], dtype=float) for field in (cold, warm))

    def saved(before: np.ndarray, after: np.ndarray) -> float:
        return float(1 - after.sum() / before.sum())

    found = saved(before, after)
    low = high = found
    if np.ptp(before) or np.ptp(after):
        bootstrap = stats.bootstrap(
            (before, after), saved, paired=True, vectorized=False, method="percentile", n_resamples=2000, rng=1
        )
        low, high = bootstrap.confidence_interval
    told = f"cold {before.mean():.1f} rounds, warm {after.mean():.1f}"
    return row(quantity, found, goal, against=told, n=len(cases), low=float(low), high=float(high))


def case_of(name: str, preset: Preset, seed: int) -> Case:
    """Measure a case, or take it from the file of what was measured."""
    return Case(**saved_cases().get(f"{name}, {preset}, {seed}", lambda: asdict(run_case(name, preset, seed))))


def run_case(name: str, preset: Preset, seed: int) -> Case:
    """Run the recalibrations of one case."""
    later = seed if preset is Preset.HOSTILE else seed + 1000
    cold = _profile(name, preset, seed, SLOTS, Stepwise())
    unchanged = _profile(name, preset, later, SLOTS, WarmStart(_stored(cold), Scope.CONFIRM))
    cold_halved = _profile(name, preset, later, SLOTS // 2, Stepwise())
    resized = WarmStart(_stored(cold), Scope.PLATFORM, only_fewer_slots=True)
    halved = _profile(name, preset, later, SLOTS // 2, resized)
    dearer = _dearer(load_topology(name))
    silent = Loop(_engine(preset, later, SLOTS), dearer, WarmStart(_stored(cold), Scope.CONFIRM), design=_DESIGN).run()
    answer, on = cold.answer.configuration.throttled(None), _engine(preset, later, SLOTS)
    return Case(
        workload=name,
        preset=str(preset),
        seed=seed,
        cold=len(cold.rounds),
        unchanged=len(unchanged.rounds),
        verdict=str(verdict(_profile_of(cold), unchanged)),
        cold_halved=len(cold_halved.rounds),
        halved=len(halved.rounds),
        part=_truth(halved, preset, later) / _truth(cold_halved, preset, later),
        loss=1 - on.truth(dearer, answer).throughput_per_s / on.truth(cold.topology, answer).throughput_per_s,
        noticed=any(outcome.trial.step is not Step.STORED for outcome in silent.rounds),
    )


def _dearer(topology: Topology) -> Topology:
    """Let every row cost more CPU and more waiting, in sources and operators alike."""

    def more(cost: Cost | None) -> Cost:
        cost = cost or Cost()
        return replace(cost, cpu_ms=DEARER * cost.cpu_ms, wait_ms=DEARER * cost.wait_ms)

    sources = [replace(source, cost=more(source.cost)) for source in topology.sources]
    operators = [replace(operator, cost=more(operator.cost)) for operator in topology.operators]
    return Topology(topology.name, sources, operators)


def _profile(name: str, preset: Preset, seed: int, slots: int, policy: Policy) -> SearchResult:
    engine = _engine(preset, seed, slots)
    return Loop(engine, load_topology(name), policy, design=_DESIGN).run()


def _engine(preset: Preset, seed: int, slots: int) -> SimulatedEngine:
    return SimulatedEngine(SimulatedPlatform(nodes=NODES, cores_per_node=CORES, slots=slots), preset, seed=seed)


def _stored(profile: SearchResult) -> StoredRounds:
    start = next(outcome for outcome in profile.rounds if outcome.trial.action is Action.START)
    return StoredRounds(profile.answer, start, profile.rounds)


def _profile_of(profile: SearchResult) -> StoredProfile:
    name = profile.topology.name
    return StoredProfile("", name, SimulatedEngine.name, None, _stored(profile), len(profile.rounds))


def _truth(profile: SearchResult, preset: Preset, seed: int) -> float:
    answer = profile.answer.configuration
    truth = _engine(preset, seed, SLOTS // 2).truth(profile.topology, answer.throttled(None)).throughput_per_s
    return truth if answer.offered_per_s is None else min(truth, answer.offered_per_s)


@cache
def saved_cases() -> Saved:
    """Open the file of what was measured."""
    return Saved("recalibrate", *MEASURED)
