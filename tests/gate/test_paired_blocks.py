"""Blocks of two arms that were measured at the same time: the differences within pairs are tested."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from profiler.engines.simulated.noise import Preset
from profiler.experiment.observation import BlockWindows, Latency, Observation
from profiler.questions.gate.criteria import Criterion
from profiler.questions.gate.verdict import GateLimits, GateVerdict, Judgement, judge
from profiler.statistics.confirmation import Block, BlockLayout, arm_difference, order
from profiler.statistics.doubt import Doubt
from tests.gate.gates import Version, blocks

PAIRED = BlockLayout(paired=True)
TODAY = Version()
UNKNOWN = Latency(math.nan, math.nan, math.nan, math.nan)


def pairs_of(reference: list[float], candidate: list[float]) -> list[Block]:
    """Return pairs of blocks of one window each, every other one in the other order."""
    values = (reference, candidate)
    return [Block(arm, (values[arm][number // 2],)) for number, arm in enumerate(order(len(reference)))]


def met(candidate: Version, *, seed: int, pairs: int = 6, own_sd: float = 0.02) -> list[BlockWindows]:
    """Return blocks of a machine that moves by tens of percent from turn to turn, under both versions alike.

    The speed index knows nothing of it; what a block has of its own varies by `own_sd`.
    """
    drawn = np.random.default_rng(seed)
    speeds = np.exp(drawn.normal(scale=0.2, size=pairs))
    made = []
    for number, block in enumerate(blocks(TODAY, candidate, per_version=pairs, preset=Preset.QUIET, seed=seed)):
        slowness = math.exp(drawn.normal(scale=own_sd)) / speeds[number // 2]
        made.append(
            replace(
                block,
                windows=tuple(slowed(each, slowness) for each in block.windows),
                probe=tuple(slowed(each, slowness) for each in block.probe),
            )
        )
    return made


def slowed(window: Observation, slowness: float) -> Observation:
    """Let fewer rows through in the same CPU time: each takes more of it."""
    return replace(window, throughput_per_s=window.throughput_per_s / slowness)


def judged(candidate: Version, seed: int, layout: BlockLayout = PAIRED) -> Judgement:
    return judge(met(candidate, seed=seed), GateLimits(), layout=layout)


def test_pairs_are_tested_by_scipys_paired_t_test():
    """p, difference and interval are those of Student's t-test on logs of pairs, whatever came first in a pair."""
    rng = np.random.default_rng(1)
    reference, candidate = np.exp(rng.normal(scale=0.1, size=6)), np.exp(rng.normal(0.05, scale=0.1, size=6))
    compared = arm_difference(pairs_of(list(reference), list(candidate)), layout=PAIRED)
    expected = stats.ttest_rel(np.log(candidate), np.log(reference))
    interval = expected.confidence_interval(0.95)
    assert compared.found.p == pytest.approx(expected.pvalue)
    assert compared.found.interval(0.05) == pytest.approx((math.expm1(interval.low), math.expm1(interval.high)))
    assert compared.found.degrees_of_freedom == 5
    assert compared.reference_log == pytest.approx(np.log(reference).mean())


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 0.0]], ids=["nothing", "one pair", "no throughput"])
def test_what_cannot_be_tested_is_not(values):
    """One pair has no spread, and nothing has no log."""
    assert arm_difference(pairs_of(values, values), layout=PAIRED) is None


def test_differences_that_are_not_normal_bring_mann_whitneys_p():
    """The versions themselves may vary as they like: what the test rests on are the differences."""
    moods = [0.1, 0.2, 5.0, 5.1, 0.15, 5.2, 0.12, 5.3]
    alike = [mood * (1 + 0.001 * number) for number, mood in enumerate(moods)]
    assert arm_difference(pairs_of(moods, alike), layout=PAIRED).mann_whitney_p is None
    outlying = [*alike[:-1], 50 * alike[-1]]
    assert arm_difference(pairs_of(moods, outlying), layout=PAIRED).mann_whitney_p is not None


@pytest.mark.long
def test_what_the_machine_does_to_both_is_not_in_the_verdict():
    """A machine that moves by a fifth from turn to turn hides 10 % from blocks that count by themselves."""
    slower = TODAY.with_cpu(count=6e-4)
    together = [judged(slower, seed) for seed in range(20)]
    apart = [judged(slower, seed, BlockLayout()) for seed in range(20)]
    assert sum(each.verdict is GateVerdict.SLOWER for each in together) >= 18
    assert sum(each.verdict is GateVerdict.SLOWER for each in apart) <= 5
    assert {each.slower_operator.name for each in together if each.slower_operator} == {"count"}


def test_a_version_that_takes_less_cpu_is_not_failed_for_having_had_less_of_the_cores():
    """Fewer threads get less of a machine that two versions share; whoever takes as much CPU has no such excuse."""
    starved = replace(TODAY, throughput_per_s=800.0)
    cheaper = starved.with_cpu(count=3e-4)
    assert judged(cheaper, 1).verdict is GateVerdict.INCONCLUSIVE
    assert judged(cheaper, 1)[Criterion.THROUGHPUT].effect < -0.1, "it is told all the same"
    assert judged(starved, 1)[Criterion.THROUGHPUT].verdict is GateVerdict.SLOWER
    in_turns = judge(blocks(TODAY, cheaper), GateLimits())
    assert in_turns[Criterion.THROUGHPUT].verdict is GateVerdict.SLOWER, "alone it had all the cores"


@pytest.mark.long
def test_unchanged_versions_that_run_together_are_seldom_called_slower():
    """Of 200 gates at most a twentieth may be (here: 9, the 95 % bound of 2.5 %), and most can pass."""
    found = [judged(TODAY, seed) for seed in range(200)]
    assert sum(each.verdict is GateVerdict.SLOWER for each in found) <= 9
    assert sum(each.verdict is GateVerdict.PASS for each in found) >= 150


@pytest.mark.long
def test_the_detectable_effect_of_pairs_is_found_as_often_as_it_promises():
    """80 % power, give or take what 100 gates can show (three standard deviations)."""
    detectable = sorted(judged(TODAY, seed)[Criterion.CPU].detectable_effect for seed in range(40))[20]
    slower = TODAY.with_cpu(**{name: cost * (1 + detectable) for name, cost in TODAY.cpu_s.items()})
    found = [judged(slower, 1000 + seed)[Criterion.CPU].verdict for seed in range(100)]
    assert 68 <= found.count(GateVerdict.SLOWER) <= 92


def test_a_pair_of_which_one_latency_is_not_known_is_left_out():
    """The other one has nothing to be compared with; all other pairs still tell."""
    seen = met(replace(TODAY, latency_ms=60.0, wait_s={"parse": 2e-3}), seed=1)
    seen[3] = replace(seen[3], probe=tuple(replace(each, processing_ms=UNKNOWN) for each in seen[3].probe))
    found = judge(seen, GateLimits(), layout=PAIRED)[Criterion.LATENCY]
    assert found.verdict is GateVerdict.SLOWER
    assert found.effect == pytest.approx(2.0, rel=0.2)
    silent = [
        replace(each, probe=tuple(replace(probe, processing_ms=UNKNOWN) for probe in each.probe)) for each in seen
    ]
    assert judge(silent, GateLimits(), layout=PAIRED)[Criterion.LATENCY].warnings == (Doubt.TOO_FEW_WINDOWS,)
