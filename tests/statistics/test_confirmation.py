"""Confirmation in interleaved blocks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from noisy import interleaved, process
from scipy import stats

from profiler.engines.simulated.noise import Preset
from profiler.statistics.confirmation import Block, BlockLayout, confirm, order
from profiler.statistics.doubt import Doubt
from profiler.statistics.result import Verdict

OPPOSITE = {Verdict.INCREASED: Verdict.DECREASED, Verdict.DECREASED: Verdict.INCREASED}


def blocks_of(values: list[float], blocks_per_arm: int) -> list[Block]:
    """Return blocks of one window each, in ABBA order."""
    return [Block(arm, (value,)) for arm, value in zip(order(blocks_per_arm), values, strict=True)]


def test_two_arms_are_ordered_abba() -> None:
    """The published order."""
    assert order(4) == (0, 1, 1, 0, 0, 1, 1, 0)


def test_three_arms_are_mirrored() -> None:
    """Every second pass runs backwards."""
    assert order(3, 3) == (0, 1, 2, 2, 1, 0, 0, 1, 2)


@given(pairs=st.integers(1, 10), arms=st.integers(2, 6))
def test_every_arm_has_its_share_of_blocks_and_the_same_mean_time(pairs: int, arms: int) -> None:
    """So that a steady drift meets all arms alike."""
    made = np.array(order(2 * pairs, arms))
    times = {float(np.mean(np.flatnonzero(made == arm))) for arm in range(arms)}
    assert len(times) == 1
    assert np.bincount(made).tolist() == [2 * pairs] * arms


def test_few_blocks_are_tested_by_scipys_welch() -> None:
    """Without a trend p, effect and interval are those of Welch on logs of blocks."""
    values = list(np.exp(np.random.default_rng(1).normal(scale=0.05, size=6)))
    found = confirm(blocks_of(values, 3))
    arms = np.array(order(3))
    expected = stats.ttest_ind(np.log(values)[arms == 1], np.log(values)[arms == 0], equal_var=False)
    interval = expected.confidence_interval(0.95)
    assert found.p == pytest.approx(expected.pvalue)
    assert (found.low, found.high) == pytest.approx((math.expm1(interval.low), math.expm1(interval.high)))
    assert (found.test, found.n_reference, found.n_candidate) == ("blocks", 3, 3)


@given(
    values=st.lists(st.floats(100, 10_000), min_size=12, max_size=12),
    scale=st.floats(1e-3, 1e3),
    per_block=st.floats(-0.3, 0.3),
)
def test_neither_unit_nor_steady_drift_matters(values: list[float], scale: float, per_block: float) -> None:
    """A machine that gets steadily slower, and another unit, leave effect and p as they are."""
    drifted = [scale * value * math.exp(per_block * i) for i, value in enumerate(values)]
    plain, found = confirm(blocks_of(values, 6)), confirm(blocks_of(drifted, 6))
    assert found.effect == pytest.approx(plain.effect, rel=1e-6, abs=1e-9)
    assert found.p == pytest.approx(plain.p, abs=1e-5)


@given(values=st.lists(st.floats(100, 10_000), min_size=12, max_size=12))
def test_swapping_the_arms_turns_the_verdict_around(values: list[float]) -> None:
    """Increased one way is decreased the other way."""
    there = confirm(blocks_of(values, 6))
    back = confirm(blocks_of(values, 6), reference=1, candidate=0)
    assert back.verdict is OPPOSITE.get(there.verdict, there.verdict)
    assert back.p == pytest.approx(there.p)


def test_a_third_arm_only_passes_the_time() -> None:
    """Blocks of other arms do not enter, apart from the time they take."""
    rng = np.random.default_rng(2)
    blocks = [Block(arm, (float(value),)) for arm, value in zip(order(4, 3), rng.uniform(1, 2, 12), strict=True)]
    others = [Block(b.arm, (b.values[0] * 50,)) if b.arm == 2 else b for b in blocks]
    assert confirm(blocks) == confirm(others)
    assert confirm(blocks, candidate=2) != confirm(others, candidate=2)


def test_equal_arms_on_a_quiet_machine_are_unchanged() -> None:
    """Equivalence is shown where the noise allows it."""
    noise = process(Preset.QUIET, 3)
    verdicts = [confirm(interleaved(noise)).verdict for _ in range(100)]
    assert verdicts.count(Verdict.UNCHANGED) >= 88


def test_equal_arms_on_a_shared_machine_are_inconclusive() -> None:
    """Not to see a change is no proof of none: the noise is larger than the margin."""
    noise = process(Preset.SHARED, 4)
    verdicts = [confirm(interleaved(noise)).verdict for _ in range(100)]
    assert verdicts.count(Verdict.INCONCLUSIVE) >= 75


@pytest.mark.long
@pytest.mark.parametrize("preset", [Preset.QUIET, Preset.SHARED])
def test_false_alarms_stay_near_five_percent(preset: Preset) -> None:
    """300 A/A confirmations: the bound is two standard errors and a half above 5 %."""
    noise = process(preset, 5)
    changed = {Verdict.INCREASED, Verdict.DECREASED}
    assert sum(confirm(interleaved(noise)).verdict in changed for _ in range(300)) <= 25


def test_a_twenty_percent_gain_is_found_on_a_shared_machine() -> None:
    """Twelve blocks of five windows find 20 % nearly always, and 10 % mostly thanks to the speed index."""
    noise = process(Preset.SHARED, 6)
    found = [confirm(interleaved(noise, 0.2)).verdict for _ in range(100)]
    assert found.count(Verdict.INCREASED) >= 96
    ten = [interleaved(noise, 0.1) for _ in range(150)]
    blind = [[Block(block.arm, block.values) for block in blocks] for blocks in ten]
    assert sum(confirm(blocks).verdict is Verdict.INCREASED for blocks in ten) >= 93
    assert sum(confirm(blocks).verdict is Verdict.INCREASED for blocks in blind) <= 85


def test_the_detectable_effect_is_found_with_eighty_percent_power() -> None:
    """What a confirmation says it can detect, it detects about four times in five."""
    noise = process(Preset.SHARED, 7)
    effect = float(np.median([confirm(interleaved(noise)).detectable_effect for _ in range(60)]))
    found = sum(confirm(interleaved(noise, effect)).verdict is Verdict.INCREASED for _ in range(200))
    assert 138 <= found <= 180


@pytest.mark.long
def test_a_useless_index_costs_no_power() -> None:
    """An index that has nothing to do with the job leaves the variance as it is."""
    noise, other = process(Preset.SHARED, 8), process(Preset.SHARED, 9)
    with_index, without = [], []
    for _ in range(300):
        blocks = interleaved(noise)
        strange = [Block(b.arm, b.values, s.speed_index) for b, s in zip(blocks, interleaved(other), strict=True)]
        with_index.append(confirm(strange).effect)
        without.append(confirm([Block(b.arm, b.values) for b in blocks]).effect)
    assert np.var(with_index) < 1.05 * np.var(without)


def test_a_relevant_effect_may_be_demanded() -> None:
    """A certain but small effect is unchanged if it lies within the margin."""
    blocks = interleaved(process(Preset.QUIET, 10), 0.03)
    assert confirm(blocks).verdict is Verdict.INCREASED
    assert confirm(blocks, relevant_effect=0.1, margin=0.1).verdict is Verdict.UNCHANGED
    assert confirm(blocks, relevant_effect=0.1, margin=0.02).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("level", "verdict"), [(1.0, Verdict.UNCHANGED), (1.2, Verdict.INCREASED), (0.8, Verdict.DECREASED)]
)
def test_blocks_without_noise_are_judged_by_their_difference(level: float, verdict: Verdict) -> None:
    """A simulated machine without noise: no warning, no division by zero."""
    blocks = [Block(arm, (level if arm else 1.0,) * 5, (0.97,) * 5) for arm in order(6)]
    assert confirm(blocks).verdict is verdict


@pytest.mark.parametrize(
    "blocks",
    [
        [],
        [Block(0, (1.0,)), Block(1, (2.0,))],
        blocks_of([1.0, 2.0, 0.0, 1.0], 2),
        [Block(arm, ()) for arm in order(2)],
    ],
    ids=["nothing", "one block each", "no throughput", "no windows"],
)
def test_what_cannot_be_tested_is_inconclusive(blocks: list[Block]) -> None:
    """Fewer than two blocks an arm, or none with throughput, give no verdict and say so."""
    found = confirm(blocks)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.warnings == (Doubt.TOO_FEW_WINDOWS,)


def test_an_interrupted_order_widens_the_interval() -> None:
    """Where an arm was measured later on the whole, the trend's error counts."""
    rng = np.random.default_rng(11)
    values = np.exp(rng.normal(scale=0.05, size=12))
    arms = (0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 1, 1)
    lopsided = confirm([Block(arm, (float(value),)) for arm, value in zip(arms, values, strict=True)])
    assert lopsided.detectable_effect > 1.3 * confirm(blocks_of(list(values), 6)).detectable_effect


def test_an_outlying_block_brings_a_warning_and_mann_whitneys_p() -> None:
    """A block that is far off makes the t-test doubtful."""
    values = list(np.exp(np.random.default_rng(12).normal(scale=0.01, size=12)))
    values[5] = 0.01
    found = confirm(blocks_of(values, 6))
    assert found.warnings == (Doubt.NOT_NORMAL,)
    assert found.mann_whitney_p is not None


IN_TURNS_CLOSE_TOGETHER = BlockLayout(paired=True, at_once=False)


def test_blocks_of_arms_that_stand_are_compared_turn_by_turn() -> None:
    """What the machine is like in a turn is no noise; the pairs' differences go to scipy's paired t-test."""
    rng = np.random.default_rng(3)
    of_turn = np.repeat(np.exp(rng.normal(scale=0.3, size=6)), 2)
    values = of_turn * np.exp(rng.normal(scale=0.02, size=12)) * np.where(np.array(order(6)) == 1, 1.1, 1.0)
    blocks = blocks_of([float(value) for value in values], 6)
    found = confirm(blocks, layout=IN_TURNS_CLOSE_TOGETHER)
    arms = np.array(order(6))
    assert found.p == pytest.approx(stats.ttest_rel(np.log(values)[arms == 1], np.log(values)[arms == 0]).pvalue)
    assert found.verdict is Verdict.INCREASED
    assert confirm(blocks).verdict is Verdict.INCONCLUSIVE


def test_the_speed_may_change_between_the_blocks_of_a_turn() -> None:
    """Only of blocks that ran at once the speed index tells nothing."""
    rng = np.random.default_rng(4)
    speeds = rng.uniform(0.6, 1.2, size=(12, 3))
    blocks = [
        Block(arm, tuple((100 * speed * (1 + 0.01 * rng.random(3))).tolist()), tuple(speed.tolist()))
        for arm, speed in zip(order(6), speeds, strict=True)
    ]
    apart = confirm(blocks, layout=IN_TURNS_CLOSE_TOGETHER)
    assert apart.detectable_effect < confirm(blocks, layout=BlockLayout(paired=True)).detectable_effect / 5
    assert apart.verdict is Verdict.UNCHANGED


def test_a_pair_is_two_blocks_of_one_turn_also_where_an_arm_was_given_up() -> None:
    """Arm 1 was decided after three turns; what arm 2 did later is not compared with it."""
    turns = [(0, 1, 2), (2, 1, 0), (0, 1, 2), (2, 0), (0, 2)]
    level = {0: 1.0, 1: 2.0, 2: 1.5}
    blocks = [
        Block(arm, (level[arm] * (number + 1) * (1 + 0.01 * arm * number),))
        for number, turn in enumerate(turns)
        for arm in turn
    ]
    found = confirm(blocks, reference=1, candidate=2, layout=IN_TURNS_CLOSE_TOGETHER)
    assert (found.n_reference, found.n_candidate) == (3, 3)
    assert found.effect == pytest.approx(1.5 / 2 - 1, abs=0.02)
