"""The ranking of several arms: who is faster, who ties, and how often it is wrong."""

from __future__ import annotations

import math

import pytest

from profiler.engines.simulated.noise import Preset
from profiler.questions.compare.ranking import RankVerdict, Terms, rank
from profiler.statistics.confirmation import Block, order
from profiler.statistics.doubt import Doubt
from tests.statistics.noisy import process, search_round

TERMS = Terms()


def blocks(*levels, preset=Preset.QUIET, seed=1, per_arm=6, windows=3):
    """Interleaved blocks of one arm per level."""
    noise = process(preset, seed)
    made = []
    for arm in order(per_arm, len(levels)):
        run = search_round(noise, levels[arm], windows)
        made.append(Block(arm, run.values, run.speed_index))
    return made


def ranked(*levels, terms=TERMS, part=1.0, **noise):
    return rank(blocks(*levels, **noise), len(levels), terms, part=part)


def test_the_fastest_is_named_with_its_margin():
    """Whatever its position; the interval holds the truth."""
    found = ranked(100.0, 130.0, 110.0)
    assert found.verdict is RankVerdict.FASTER
    assert found.order == (1, 2, 0)
    assert found.ranks == (3, 1, 2)
    pair = found.pair(2, 1)
    assert (pair.first, pair.second) == (1, 2)
    assert pair.effect == pytest.approx(130 / 110 - 1, abs=0.03)
    assert 0 < pair.low < 130 / 110 - 1 < pair.high
    assert found.levels == pytest.approx((100, 130, 110), rel=0.03)


def test_arms_that_do_the_same_tie():
    """They share the first rank, which is a clear answer."""
    found = ranked(100.0, 100.0, 70.0)
    assert found.verdict is RankVerdict.TIE
    assert found.ranks == (1, 1, 3)
    assert found.pair(0, 1).verdict is RankVerdict.TIE
    assert found.pair(0, 1).tie_p < 0.05
    assert not found.unsettled


def test_what_the_noise_hides_is_inconclusive():
    """Neither faster nor a tie; the pair says what it could have seen, and both need more blocks."""
    found = ranked(100.0, 102.0, 50.0, preset=Preset.SHARED)
    assert found.verdict is RankVerdict.INCONCLUSIVE
    assert found.unsettled == {0, 1}
    assert found.pair(0, 1).detectable_effect > 0.1
    assert found.ranks == (1, 1, 3)


def test_a_difference_that_does_not_matter_is_none():
    """1 % is seen on a quiet machine, and is a tie; with a finer eye it is a difference."""
    levels = (100.0, 101.5)
    seen = ranked(*levels, per_arm=12)
    assert seen.pair(0, 1).adjusted_p < 0.05
    assert seen.verdict is RankVerdict.TIE
    assert ranked(*levels, per_arm=12, terms=Terms(relevant_effect=0.0)).verdict is RankVerdict.FASTER


def test_arms_that_overlap_share_a_rank():
    """The first is faster than the third; the second can be told from neither."""
    found = ranked(112.0, 106.0, 100.0, preset=Preset.SHARED, seed=2, per_arm=10)
    verdicts = {(pair.first, pair.second): pair.verdict for pair in found.pairs}
    assert verdicts[0, 2] is RankVerdict.FASTER
    assert RankVerdict.FASTER not in (verdicts[0, 1], verdicts[1, 2])
    assert found.ranks == (1, 1, 2)
    assert found.verdict is RankVerdict.INCONCLUSIVE


def test_the_interval_tells_what_the_test_tells():
    """Nought is outside where the adjusted p is below the level, for every pair of many."""
    for seed in range(30):
        for pair in ranked(100.0, 108.0, 112.0, 125.0, preset=Preset.SHARED, seed=seed).pairs:
            # Holm never lets a later pair be better off than an earlier one, which an interval does not know.
            if pair.adjusted_p < 0.05:
                assert pair.low > 0
            assert pair.adjusted_p >= pair.p
            assert pair.low < pair.effect < pair.high


def test_an_interval_the_other_way_round_is_the_same_one():
    """Arms in another order give the same pair."""
    one, other = blocks(100.0, 120.0), [Block(1 - each.arm, *_parts(each)) for each in blocks(100.0, 120.0)]
    a, b = rank(one, 2, TERMS).pairs[0], rank(other, 2, TERMS).pairs[0]
    assert (a.first, b.first) == (1, 0)
    assert (a.effect, a.low, a.high, a.p) == pytest.approx((b.effect, b.low, b.high, b.p))


def _parts(block):
    return block.values, block.speed_index


def test_a_look_that_may_use_less_of_the_level_is_stricter():
    """Its intervals are wider."""
    whole, early = (ranked(100.0, 115.0, preset=Preset.SHARED, part=part).pairs[0] for part in (1.0, 0.2))
    assert early.low < whole.low
    assert early.detectable_effect > whole.detectable_effect


def test_pairs_that_were_settled_stay_and_the_others_share_the_level():
    """Holm goes on with those that are left, which makes them less strict."""
    seen = blocks(100.0, 103.0, 160.0, preset=Preset.SHARED)
    first = rank(seen, 3, TERMS, part=0.2)
    settled = [pair for pair in first.pairs if pair.settled]
    assert {(pair.first, pair.second) for pair in settled} == {(2, 0), (2, 1)}
    second = rank(seen, 3, TERMS, part=0.8, settled=settled)
    assert second.pairs[:2] == tuple(settled)
    assert second.pair(0, 1).adjusted_p == pytest.approx(second.pair(0, 1).p / 0.8)
    assert second.verdict is RankVerdict.FASTER


@pytest.mark.parametrize("count", [0, 1, 3])
def test_too_few_blocks_are_inconclusive(count):
    """Nothing can be tested with fewer than two of each arm."""
    found = rank(blocks(100.0, 200.0)[:count], 2, TERMS)
    assert found.verdict is RankVerdict.INCONCLUSIVE
    assert found.pairs[0].warnings == (Doubt.TOO_FEW_WINDOWS,)
    assert found.pairs[0].high == math.inf
    assert found.levels == pytest.approx((100, 200), rel=0.1) if count > 1 else found.levels[1] is None
    assert found.pairs[0].effect == (pytest.approx(1, rel=0.2) if count > 1 else 0)
    assert found.order[0] == (1 if count > 1 else 0)


@pytest.mark.long
def test_equal_arms_are_seldom_told_apart():
    """Of 100 rankings of four equal arms on a shared machine 5 % may name a difference (11: three deviations more)."""
    wrong = sum(
        any(pair.verdict is RankVerdict.FASTER for pair in ranked(*[100.0] * 4, preset=Preset.SHARED, seed=seed).pairs)
        for seed in range(100)
    )
    assert wrong <= 11


@pytest.mark.long
def test_a_fifth_more_is_found():
    """Against one other on a shared machine nearly always, and against three in most cases."""
    of_two = [ranked(100.0, 120.0, preset=Preset.SHARED, seed=seed) for seed in range(60)]
    of_four = [ranked(100.0, 100.0, 120.0, 100.0, preset=Preset.SHARED, seed=seed) for seed in range(60)]
    assert sum(found.verdict is RankVerdict.FASTER and found.leaders == (1,) for found in of_two) >= 54
    assert sum(found.verdict is RankVerdict.FASTER and found.leaders == (2,) for found in of_four) >= 40
