"""Jobs that wait for services, with the fixed costs that a real engine has: the answer against the best at its slots.

The simulated engine charges rows only. What batches and pollers cost however few rows there are is added here to what
is seen of a window, not to what it does: so the optimum is the engine's own, and where the cores are the limit it is
out of reach by what the fixed costs seem to take. There is no confirmation: it is the search that is looked at.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.noise import Preset
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.experiment.rounds import Action
from profiler.experiment.window_plan import WindowPlan
from profiler.job.topology import Cost, Operator, Source, Topology
from profiler.questions.search.loop import Loop
from profiler.questions.search.policies import POLICIES
from scripts.benches.fixed_costs import FixedCosts
from scripts.benches.optimum import searched_optimum
from scripts.benches.rows import Row, row
from scripts.benches.saved import Saved

MACHINES = ((2, 16), (2, 40), (4, 40), (8, 64))
"""Cores and slots."""
FIXED_CORES = (0.0, 0.005, 0.02)
"""Cores that every task takes whatever it does."""
SEEDS = 3
MEASURED = (
    "profiler/questions/search",
    "profiler/statistics",
    "profiler/engines/simulated",
    "profiler/experiment",
    "scripts/benches/waiting.py",
    "scripts/benches/fixed_costs.py",
    "scripts/benches/optimum.py",
)
"""Code whose change makes earlier results stale."""


def _asking(name: str, *operators: Operator) -> Topology:
    return Topology.chain(name, Source("in", cost=Cost(cpu_ms=0.005)), *operators)


def _parse(cpu_ms: float = 0.02) -> Operator:
    return Operator("parse", cost=Cost(cpu_ms=cpu_ms))


TOPOLOGIES = {
    topology.name: topology
    for topology in (
        *(
            _asking(f"waits {wait_ms:g} ms", _parse(), Operator("ask", cost=Cost(cpu_ms=0.05, wait_ms=wait_ms)))
            for wait_ms in (0.4, 2, 7, 25)
        ),
        _asking(
            "two services",
            _parse(),
            Operator("ask", cost=Cost(cpu_ms=0.05, wait_ms=2)),
            Operator("look-up", cost=Cost(cpu_ms=0.05, wait_ms=7)),
        ),
        _asking("waits and works", _parse(0.2), Operator("ask", cost=Cost(cpu_ms=0.3, wait_ms=2))),
        _asking(
            "works beside",
            Operator("score", cost=Cost(cpu_ms=0.4)),
            Operator("ask", cost=Cost(cpu_ms=0.05, wait_ms=7)),
            Operator("mark", cost=Cost(cpu_ms=0.02)),
        ),
        _asking("works", _parse(0.1), Operator("score", cost=Cost(cpu_ms=0.4))),
    )
}


@dataclass(frozen=True, slots=True)
class Case:
    """One profile to run."""

    topology: str
    preset: Preset
    cores: int
    slots: int
    fixed_cores: float
    seed: int


@dataclass(frozen=True, slots=True)
class Result:
    """What came of it."""

    case: Case
    part: float
    """Noise-free throughput of the answer over the optimum's."""
    rounds: int
    in_vain: int
    """Rounds of the slot programme whose own prediction was below what the incumbent did."""
    tasks: int


def rows() -> Iterator[Row]:
    """Run all profiles, on all cores, and yield the figures."""
    with ProcessPoolExecutor() as pool:
        for preset in (Preset.QUIET, Preset.SHARED):
            for fixed_cores in FIXED_CORES:
                cases = [
                    Case(name, preset, cores, slots, fixed_cores, seed)
                    for name in TOPOLOGIES
                    for cores, slots in MACHINES
                    for seed in range(SEEDS)
                ]
                yield from _told(f"{preset}, {fixed_cores:g} cores a task", list(pool.map(run_case, cases)))


def run_case(case: Case) -> Result:
    """Run one profile; one that was run before is looked up."""
    found: dict[str, Any] = Saved("waiting", *MEASURED).get(str(case), lambda: asdict(_run(case)))
    return Result(**{**found, "case": case})


def _run(case: Case) -> Result:
    topology = TOPOLOGIES[case.topology]
    platform = SimulatedPlatform(nodes=1, cores_per_node=case.cores, slots=case.slots)
    engine = SimulatedEngine(platform, case.preset, seed=case.seed)
    costly = FixedCosts(engine, case.fixed_cores)
    profile = Loop(costly, topology, POLICIES["stepwise"](), design=WindowPlan(blocks=0)).run()
    answer = profile.answer.configuration
    truth = float(engine.capacities(topology, np.array([[answer[name] for name in topology.names]]))[0])
    reached = truth if answer.offered_per_s is None else min(truth, answer.offered_per_s)
    best, in_vain = 0.0, 0
    for measured in profile.rounds:
        predicted_per_s = measured.trial.predicted_per_s or 0.0
        in_vain += measured.trial.action is Action.SLOTS and predicted_per_s < best
        if measured.decision is not None and measured.decision.accepted:
            best = measured.throughput_per_s
    return Result(
        case=case,
        part=reached / _optimum(engine, topology, case),
        rounds=len(profile.rounds),
        in_vain=in_vain,
        tasks=answer.slots,
    )


def _optimum(engine: SimulatedEngine, topology: Topology, case: Case) -> float:
    """Return the optimum, searched once: these presets hide nothing that depends on the seed."""
    key = f"{case.topology}, {case.cores} cores, {case.slots} slots"
    known = Saved("waiting-optima", "profiler/engines/simulated", "scripts/benches/waiting.py")
    optimum: float = known.get(key, lambda: searched_optimum(engine, topology, case.slots))
    return optimum


def _told(label: str, results: Sequence[Result]) -> Iterator[Row]:
    yield from _summary(label, results)
    for name in TOPOLOGIES:
        yield from _summary(f"{label}: {name}", [each for each in results if each.case.topology == name])


def _summary(label: str, results: Sequence[Result]) -> Iterator[Row]:
    parts = [result.part for result in results]
    rounds = [result.rounds for result in results]
    tasks = statistics.fmean(result.tasks for result in results)
    quantity = (
        f"{label}, mean (worst {min(parts):.1%}, {statistics.fmean(rounds):.1f} rounds, {max(rounds)} at most, "
        f"{sum(result.in_vain for result in results)} in vain, {tasks:.1f} tasks)"
    )
    yield row(quantity, statistics.fmean(parts), against="optimiser", n=len(parts))
