"""Is a gate to be trusted? False alarms on unchanged code, slowdowns of one operator found, and the operator named.

Simulated, *shared* noise, as `profile gate` runs it. The operator's cost is raised by 5, 10 and 20 %; what that means
for the whole job is read off long quiet runs. A gate promises to find an effect as large as the one it calls detectable
with 80 % power, and others with the power that follows from it. What is promised of a slowdown is the promise of the
criterion that sees it best, by the detectable effects that gates of unchanged code state of all their blocks: those
that an early look ended, on the quieter days, are measured to their end for that. A drill that is missed promises how
many blocks would find it, which gates of so many blocks keep or do not. The simulator's noise hits all operators of a
window alike, so naming one is easier than on a real machine. Intervals of rates are exact binomial ones, at 95 %.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from scipy import optimize, stats

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.noise import Preset
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.experiment.comparing.blocks import Arm, Blocks
from profiler.experiment.comparing.turns import EARLY_PART
from profiler.experiment.observation import Detail
from profiler.experiment.window_plan import WindowPlan
from profiler.job.configuration import Configuration
from profiler.job.loading import load_topology
from profiler.job.topology import Cost, Operator, Topology
from profiler.questions.gate.criteria import Criterion
from profiler.questions.gate.experiment import DESIGN, Drill, GateExperiment, Side
from profiler.questions.gate.result import GateResult
from profiler.questions.gate.verdict import GateLimits, GateVerdict, judge
from profiler.statistics.confirmation import order
from profiler.statistics.student import LogDifference
from scripts.benches.rows import Row, rate_interval, rate_row, row
from scripts.benches.saved import Saved

CASES = {"linear": "work-2", "word-count": "count", "star": "hub", "twitter-sentiment": "sentiment"}
"""Topologies, and the operator of each that is made slower: one with a third of the CPU time or more."""
SLOWDOWNS = (0.05, 0.10, 0.20)
GATES = 100
"""Per topology and slowdown."""
DRILLS = (0.10, 0.15)
DRILLED = 40
"""Per topology and drill."""
NODES, CORES = 2, 2
MEASURED = (
    "profiler/statistics",
    "profiler/engines/simulated",
    "profiler/experiment",
    "profiler/questions/gate",
    "workloads",
    "scripts/benches/gate.py",
)
"""Code whose change makes earlier results stale."""
NOMINAL = 0.05
FREEDOM = 2 * (DESIGN.blocks - 1.5)
"""Of the test: a trend takes half a degree of freedom from each version."""
LAST_LOOK = 1 - EARLY_PART
NEVER_DECIDED = GateLimits(max_slowdown=math.inf, rule_out=-math.inf)
"""A gate with these is measured to its end."""

Detectable = dict[str, float]
"""By criterion."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one gate said."""

    topology: str
    slowdown: float
    verdict: str
    operator: str | None
    blocks: int
    latency_alone: bool


@dataclass(frozen=True, slots=True)
class DrillVerdict:
    """What one drilled gate said."""

    topology: str
    seed: int
    verdict: str
    measured: bool
    expected: float
    needed_blocks: int | None


def rows() -> Iterator[Row]:
    """Run all gates that were not run yet, and yield the figures."""
    unchanged = [one_gate(name, 0.0, seed) for name in CASES for seed in range(GATES)]
    stated = {name: [stated_detectable(name, seed) for seed in range(GATES)] for name in CASES}
    yield from _unchanged_rows(unchanged, [each for of_case in stated.values() for each in of_case])
    for slowdown in SLOWDOWNS:
        slower = [one_gate(name, slowdown, seed) for name in CASES for seed in range(GATES)]
        yield from _slower_rows(slowdown, slower, stated)
    for part in DRILLS:
        yield from _drill_rows(part, [one_drill(name, part, seed) for name in CASES for seed in range(DRILLED)])


def _unchanged_rows(gates: Sequence[Verdict], stated: Sequence[Detectable]) -> Iterator[Row]:
    slower = [gate.verdict == GateVerdict.SLOWER for gate in gates]
    low, _ = rate_interval(slower)
    yield rate_row("unchanged code: called slower", slower, better="lower", against="nominal 5 %")
    yield row("unchanged code: lower end of that", low, NOMINAL, better="lower", n=len(gates))
    for verdict in (GateVerdict.PASS, GateVerdict.INCONCLUSIVE):
        yield rate_row(f"unchanged code: {verdict}", [gate.verdict == verdict for gate in gates], against="")
    yield rate_row(
        "unchanged code: latency rose and no operator did", [gate.latency_alone for gate in gates], better="lower"
    )
    for criterion in Criterion:
        values = [each[criterion] for each in stated]
        yield row(
            f"detectable slowdown by {criterion}, median", statistics.median(values), better="lower", n=len(values)
        )
    yield row("blocks of a gate, mean", statistics.fmean(gate.blocks for gate in gates), unit="blocks", n=len(gates))


def _slower_rows(
    slowdown: float, gates: Sequence[Verdict], stated: Mapping[str, Sequence[Detectable]]
) -> Iterator[Row]:
    promises = []
    for name, operator in CASES.items():
        found = [gate.verdict == GateVerdict.SLOWER for gate in gates if gate.topology == name]
        promise, by = _promise(name, slowdown, stated[name])
        promises.append(promise)
        told = f"promised {promise:.1%}: {by} {true_effects(name, slowdown)[by]:+.1%}"
        yield rate_row(f"{slowdown:.0%} more work in {operator} of {name}: found", found, against=told)
    found = [gate.verdict == GateVerdict.SLOWER for gate in gates]
    promised = statistics.fmean(promises)
    yield rate_row(f"{slowdown:.0%} more work: found", found, against=f"promised {promised:.1%}")
    yield row(f"{slowdown:.0%} more work: upper end of that", rate_interval(found)[1], promised, n=len(found))
    yield rate_row(
        f"{slowdown:.0%} more work: passed", [gate.verdict == GateVerdict.PASS for gate in gates], better="lower"
    )
    named = [gate.operator == CASES[gate.topology] for gate in gates if gate.verdict == GateVerdict.SLOWER]
    yield rate_row(f"{slowdown:.0%} more work: right operator named, of those found", named, goal=0.9)


def _drill_rows(part: float, drills: Sequence[DrillVerdict]) -> Iterator[Row]:
    expected = statistics.fmean(each.expected for each in drills)
    found = [each.verdict == GateVerdict.SLOWER for each in drills]
    yield rate_row(f"drill of {part:.0%}: found", found, against=f"{expected:+.1%} CPU per row expected on average")
    yield rate_row(f"drill of {part:.0%}: not measured", [not each.measured for each in drills], better="lower")
    missed = [each for each in drills if each.verdict != GateVerdict.SLOWER]
    told = [each for each in missed if each.needed_blocks is not None and each.needed_blocks > DESIGN.blocks]
    yield rate_row(
        f"drill of {part:.0%}: blocks told that would find it, of those missed", [each in told for each in missed]
    )
    if told:
        again = [one_drill(each.topology, part, GATES + each.seed, each.needed_blocks or 0) for each in told]
        yield rate_row(
            f"drill of {part:.0%}: found with the blocks that were told",
            [each.verdict == GateVerdict.SLOWER for each in again],
            against="promised 80 %",
        )
        blocks = statistics.median(each.needed_blocks or 0 for each in told)
        yield row(f"drill of {part:.0%}: blocks that were told, median", blocks, unit="blocks", n=len(told))


def _promise(name: str, slowdown: float, stated: Sequence[Detectable]) -> tuple[float, Criterion]:
    """Return the power that gates of unchanged code promise for a slowdown, and the criterion that promises it."""
    effects = true_effects(name, slowdown)
    operators = len(load_topology(name).names)
    powers = {
        criterion: statistics.fmean(
            power(effect, each[criterion], operators if criterion is Criterion.OPERATOR else 1) for each in stated
        )
        for criterion, effect in effects.items()
    }
    best = max(powers, key=lambda criterion: powers[criterion])
    return powers[best], best


def power(effect: float, detectable: float, tries: int) -> float:
    """Return the chance that a test that calls `detectable` with 80 % power calls `effect`.

    An operator's effect counts as a part of the job's, which does not matter here: both are in the same unit.
    """
    limits = GateLimits()
    alpha = LAST_LOOK * limits.alpha / len(Criterion) / tries

    def short(error: float) -> float:
        return LogDifference(0.0, error, FREEDOM).detectable_effect(2 * alpha, limits.max_slowdown) - detectable

    if short(1e-6) >= 0:
        return float(effect >= limits.max_slowdown)
    error = float(optimize.brentq(short, 1e-6, 2.0))
    shift = math.log1p(effect) / error
    significant = float(stats.nct.sf(stats.t.isf(alpha, FREEDOM), FREEDOM, shift)) if effect > 0 else alpha
    large = float(stats.norm.sf((math.log1p(limits.max_slowdown) - math.log1p(effect)) / error))
    return min(significant, large)


@cache
def true_effects(name: str, slowdown: float) -> dict[Criterion, float]:
    """Read what a slower operator means for the job off a long quiet run of both versions, as slowdowns."""

    def measured() -> dict[str, float]:
        topology = load_topology(name)
        engine = _engine(Preset.QUIET, seed=0)
        arms = [_arm(topology, engine), _arm(_slower(topology, CASES[name], slowdown), engine)]
        design = WindowPlan(block=40, block_warm_up=6, blocks=2)
        blocks = list(Blocks(engine, topology, arms, design, detail=Detail.APART).in_turn(order(4)))
        found = judge(blocks, GateLimits())
        total_s = sum(change.baseline_s for change in found.operators)
        return {
            Criterion.CPU: found[Criterion.CPU].effect,
            Criterion.OPERATOR: max(change.increase_s for change in found.operators) / total_s,
            Criterion.THROUGHPUT: -found[Criterion.THROUGHPUT].effect / (1 + found[Criterion.THROUGHPUT].effect),
        }

    kept: dict[str, float] = saved_gates().get(f"true effect, {name}, {slowdown}", measured)
    return {Criterion(criterion): effect for criterion, effect in kept.items()}


def one_gate(name: str, slowdown: float, seed: int) -> Verdict:
    """Run a gate, or take it from the file of what was measured."""
    kept: dict[str, Any] = saved_gates().get(f"{name}, {slowdown}, {seed}", lambda: run_gate(name, slowdown, seed))
    return Verdict(name, slowdown, **kept)


def run_gate(name: str, slowdown: float, seed: int) -> dict[str, Any]:
    """Run one gate, and tell what it found."""
    outcome = measured_gate(name, slowdown, seed, GateLimits())
    named = outcome.judgement.slower_operator if outcome.judgement else None
    return {
        "verdict": str(outcome.verdict),
        "operator": named.name if named else None,
        "blocks": len(outcome.blocks),
        "latency_alone": outcome.judgement is not None and outcome.judgement.latency_alone,
    }


def one_drill(name: str, part: float, seed: int, blocks: int = DESIGN.blocks) -> DrillVerdict:
    """Run a drilled gate of so many blocks, or take it from the file of what was measured."""

    def measured() -> dict[str, Any]:
        side, engine = _unchanged(name), _engine(Preset.SHARED, seed)
        drill, design = Drill(part, runs_functions=False), replace(DESIGN, blocks=blocks)
        outcome = GateExperiment(engine, side, replace(side, name="candidate"), drill=drill, design=design).run()
        return {
            "verdict": str(outcome.verdict),
            "measured": outcome.judgement is not None,
            "expected": outcome.drilled.expected_effect if outcome.drilled else 0.0,
            "needed_blocks": outcome.needed_blocks,
        }

    kept: dict[str, Any] = saved_gates().get(f"drill, {name}, {part}, {seed}, {blocks}", measured)
    return DrillVerdict(name, seed, **kept)


def stated_detectable(name: str, seed: int) -> Detectable:
    """Return what a gate of unchanged code calls detectable in its last look, by criterion, as a slowdown."""
    kept: Detectable = saved_gates().get(f"detectable, {name}, {seed}", lambda: _full_length(name, seed))
    return kept


def _full_length(name: str, seed: int) -> Detectable:
    blocks = measured_gate(name, 0.0, seed, NEVER_DECIDED).blocks
    judgement = judge(blocks, GateLimits(), part=LAST_LOOK)
    return {str(finding.criterion): _as_slowdown(finding.detectable_effect) for finding in judgement.findings}


def measured_gate(name: str, slowdown: float, seed: int, limits: GateLimits) -> GateResult:
    """Run a gate of a workload and the same with a slower operator on a machine that others use too."""
    side, engine = _unchanged(name), _engine(Preset.SHARED, seed)
    candidate = _slower(side.topology, CASES[name], slowdown) if slowdown else side.topology
    return GateExperiment(engine, side, replace(side, name="candidate", topology=candidate), limits=limits).run()


def _unchanged(name: str) -> Side:
    topology = load_topology(name)
    return Side("baseline", topology, Configuration.of(dict.fromkeys(topology.names, 1)))


def _as_slowdown(effect: float) -> float:
    return effect if effect >= 0 else 1 / (1 + effect) - 1


def _engine(preset: Preset, seed: int) -> SimulatedEngine:
    return SimulatedEngine(SimulatedPlatform(nodes=NODES, cores_per_node=CORES, slots=64), preset, seed=seed)


def _arm(topology: Topology, engine: SimulatedEngine) -> Arm:
    tasks = Configuration.of(dict.fromkeys(topology.names, 1))
    return Arm(tasks, engine.truth(topology, tasks).throughput_per_s, topology=topology)


def _slower(topology: Topology, name: str, slowdown: float) -> Topology:
    def changed(operator: Operator) -> Operator:
        cost = operator.cost or Cost()
        more = Cost(cpu_ms=cost.cpu_ms * (1 + slowdown), wait_ms=cost.wait_ms * (1 + slowdown))
        return replace(operator, cost=more) if operator.name == name else operator

    return Topology(topology.name, topology.sources, [changed(operator) for operator in topology.operators])


@cache
def saved_gates() -> Saved:
    """Open the file of what was measured."""
    return Saved("gate", *MEASURED)
