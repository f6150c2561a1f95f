"""How good is the answer? The chosen configuration's noise-free throughput against the optimum at the same slots."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from profiler.shipped.random_dag import random_dag
from scipy import stats

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.noise import Preset
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.job.loading import load_topology
from profiler.job.topology import Topology
from profiler.questions.search.loop import Loop
from profiler.questions.search.policies import POLICIES
from profiler.questions.search.policies.policy import Policy
from profiler.questions.search.policies.stepwise import Addition, Stepwise
from scripts.benches import announced
from scripts.benches.optimum import exhaustive_optimum, searched_optimum
from scripts.benches.rows import Row, row
from scripts.benches.saved import Saved

SEEDS = 30
ABLATION_SEEDS = 4
DAGS = 500
NODES, CORES = 3, 2
WORKLOADS = ("linear", "diamond", "star", "word-count")
RANDOM = (11, 12, 13)
ALL = frozenset(Addition)
MEASURED = (
    "profiler/questions/search",
    "profiler/statistics",
    "profiler/engines/simulated",
    "profiler/experiment",
    "profiler/questions/search/loop.py",
    "workloads",
    "scripts/benches/quality.py",
    "scripts/benches/optimum.py",
)
"""Code whose change makes earlier results stale."""
VARIANTS: dict[str, Policy] = {
    "all additions": Stepwise(),
    **{f"without {addition}": Stepwise(ALL - {addition}) for addition in Addition},
    "the published steps alone": Stepwise(frozenset()),
    **{f"baseline {name}": POLICIES[name]() for name in ("slots", "ds2", "stela", "threshold")},
}


@dataclass(frozen=True, slots=True)
class Case:
    """One profile to run."""

    topology: str
    preset: Preset
    slots: int
    seed: int
    variant: str = "all additions"


@dataclass(frozen=True, slots=True)
class Result:
    """What came of it."""

    case: Case
    part: float
    """Noise-free throughput of the answer over the optimum's."""
    rounds: int
    seconds: float
    meets_latency: bool
    fits: bool
    feasible_seen: bool


def rows() -> Iterator[Row]:
    """Run all profiles, on all cores, and yield the figures."""
    with ProcessPoolExecutor() as pool:
        for preset, mean_goal, worst_goal in (
            (Preset.QUIET, 0.97, 0.90),
            (Preset.HOSTILE, 0.95, None),
            (Preset.SHARED, None, None),
        ):
            results = list(pool.map(run_case, _cases(preset, SEEDS), chunksize=4))
            yield from _quality(preset, results, mean_goal, worst_goal)
        yield from announced.rows_in(pool)
        yield from _random_dags(list(pool.map(run_random, range(DAGS), chunksize=5)))
        yield from _ablation(pool)


def _cases(preset: Preset, seeds: int, variant: str = "all additions") -> list[Case]:
    names = [*WORKLOADS, *(f"random-dag?seed={seed}" for seed in RANDOM)]
    return [
        Case(name, preset, slots, seed, variant)
        for name in names
        for slots in slot_limits(load_topology(name))
        for seed in range(seeds)
    ]


def slot_limits(topology: Topology) -> tuple[int, int]:
    """Tight: half as many again as the elements need; generous: four per core."""
    return len(topology.names) * 3 // 2 + 1, 4 * NODES * CORES


def run_case(case: Case) -> Result:
    """Run one profile and compare its answer with the whole grid; a case that was run before is looked up."""
    return _once(case, lambda: _run(load_topology(case.topology), case, partial(_known_optimum, case)))


def _once(case: Case, run: Callable[[], Result]) -> Result:
    """Return the slots that a topology's case has, the fewest and the most."""
    found: dict[str, Any] = saved_results().get(str(case), lambda: asdict(run()))
    return Result(**{**found, "case": case})


@cache
def saved_results() -> Saved:
    """Open the file of the searches that were run."""
    return Saved("quality", *MEASURED)


def _known_optimum(case: Case, engine: SimulatedEngine, topology: Topology, slots: int) -> float:
    """Return the optimum, searched once: only the hostile preset hides something that depends on the seed."""
    hidden = f"seed {case.seed}" if case.preset is Preset.HOSTILE else "nothing hidden"
    key = f"{case.topology}, {slots} slots, {hidden}"
    optimum: float = saved_optima().get(key, lambda: exhaustive_optimum(engine, topology, slots))
    return optimum


@cache
def saved_optima() -> Saved:
    """Open the file of the optima that were found."""
    return Saved("optima", "profiler/engines/simulated", "workloads")


def run_random(number: int) -> Result:
    """Run one random DAG of 2 to 12 operators."""
    rng = np.random.default_rng(10_000 + number)
    operators = int(rng.integers(2, 13))
    sources = int(rng.integers(1, 3)) if operators > 2 else 1
    topology = random_dag(10_000 + number, operators, non_parallel=0.1, logic=0.1, sources=sources)
    slots = len(topology.names) + int(rng.integers(1, 3 * operators + 4))
    case = Case(topology.name, Preset.QUIET, slots, number)
    return _once(case, lambda: _run(topology, case, partial(searched_optimum, seed=number)))


def _run(topology: Topology, case: Case, optimum: Callable[[SimulatedEngine, Topology, int], float]) -> Result:
    engine = SimulatedEngine(
        SimulatedPlatform(nodes=NODES, cores_per_node=CORES, slots=case.slots), case.preset, seed=case.seed
    )
    started = time.process_time()
    profile = Loop(engine, topology, VARIANTS[case.variant]).run()
    seconds = time.process_time() - started
    answer = profile.answer.configuration
    constraint = profile.context.parameters.constraint
    truth = float(engine.capacities(topology, np.array([[answer[name] for name in topology.names]]))[0])
    reached = truth if answer.offered_per_s is None else min(truth, answer.offered_per_s)
    return Result(
        case=case,
        part=reached / optimum(engine, topology, case.slots),
        rounds=len(profile.rounds),
        seconds=seconds,
        meets_latency=profile.answer.meets(constraint),
        fits=answer.slots <= case.slots,
        feasible_seen=any(seen.meets(constraint) for seen in profile.rounds),
    )


def _quality(
    preset: Preset, results: Sequence[Result], mean_goal: float | None, worst_goal: float | None
) -> Iterator[Row]:
    parts = [result.part for result in results]
    yield _mean_row(f"{preset}: throughput of the answer, mean", parts, mean_goal)
    yield row(f"{preset}: throughput of the answer, worst", min(parts), worst_goal, against="exhaustive", n=len(parts))
    for name in dict.fromkeys(result.case.topology for result in results):
        own = [result.part for result in results if result.case.topology == name]
        yield _mean_row(f"{preset}: {name}, mean (worst {min(own):.1%})", own, None)
    median = statistics.median(result.rounds for result in results)
    yield row(f"{preset}: rounds, median", median, 8, better="lower", unit="rounds", n=len(results))
    slowest = max(result.seconds for result in results)
    yield row(f"{preset}: CPU time of a run, slowest", slowest, 2.0, better="lower", unit="s", n=len(results))


def _random_dags(results: Sequence[Result]) -> Iterator[Row]:
    parts = [result.part for result in results]
    count = len(results)
    yield row(
        "random DAGs: throughput of the answer, median", statistics.median(parts), 0.93, against="optimiser", n=count
    )
    yield row("random DAGs: throughput of the answer, worst", min(parts), None, against="optimiser", n=count)
    yield row("random DAGs: fit their slots", sum(r.fits for r in results) / count, 1.0, n=count)
    kept = [result.meets_latency for result in results if result.feasible_seen]
    yield row("random DAGs: latency kept where feasible", sum(kept) / len(kept), 1.0, n=len(kept))
    median = statistics.median(result.rounds for result in results)
    yield row("random DAGs: rounds, median", median, 8, better="lower", unit="rounds", n=count)


def _ablation(pool: ProcessPoolExecutor) -> Iterator[Row]:
    for variant in VARIANTS:
        for preset in (Preset.QUIET, Preset.HOSTILE):
            results = list(pool.map(run_case, _cases(preset, ABLATION_SEEDS, variant), chunksize=4))
            parts = [result.part for result in results]
            rounds = statistics.median(result.rounds for result in results)
            label = f"{variant}, {preset}: mean (worst {min(parts):.1%}, {rounds:g} rounds)"
            yield _mean_row(label, parts, None)


def _mean_row(quantity: str, values: Sequence[float], goal: float | None) -> Row:
    mean = statistics.fmean(values)
    half = float(stats.sem(values) * stats.t.ppf(0.975, len(values) - 1))
    return row(quantity, mean, goal, against="exhaustive", n=len(values), low=mean - half, high=mean + half)
