"""Who is the fastest? Several arms in interleaved blocks, every pair tested, one family error.

Every pair of arms is compared as in a confirmation (confirmation.py: the block is the unit, the speed index a control
variate). A pair says

    faster          the difference is significant after Holm's adjustment over all pairs, and the estimate at least
                    `relevant_effect`
    tie             else, where two one-sided tests, adjusted likewise, say that it lies within ± `margin`
    inconclusive    neither

An arm's rank is one more than the number of arms that are faster than it, so arms that cannot be told apart share one.

Why all pairs, and not each arm against the best: who is the best is read off the same blocks, and the difference to an
arm that was picked for being the highest is too large. All pairs hold their error whoever is picked.

Two looks may be taken. Pairs that the first one settled stay as they are, and Holm goes on with the others: unless the
first look was wrong, for which it has its part of the level, all pairs without a difference are still among these.

Both arms of a pair have one slope of the speed index, though a job bound by waiting has another one than a job bound by
CPU: slopes of their own would raise more false alarms. The figures of all three choices are in
scripts/benches/results/compare.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

import numpy as np

from profiler.settings.declarations import DEFAULTS
from profiler.statistics.confirmation import EQUIVALENCE_MARGIN, ArmDifference, Block, arm_difference
from profiler.statistics.control_variate import normalised, speed_slope
from profiler.statistics.doubt import Doubt
from profiler.statistics.holm import holm
from profiler.statistics.student import LogDifference, relative


class RankVerdict(StrEnum):
    """The verdict on a pair, or on the arms at the top."""

    FASTER = "faster"
    TIE = "tie"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a ranking: what it calls a difference, and what a tie."""

    alpha: float = 0.05
    """The error of naming a difference where there is none, over all pairs and looks."""
    relevant_effect: float = DEFAULTS.relevant_effect
    """Smallest difference that is called one."""
    margin: float = EQUIVALENCE_MARGIN
    """Arms that differ by less than this tie."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two arms, the one that was seen to be faster first; effects are the first one's."""

    first: int
    second: int
    verdict: RankVerdict
    effect: float
    low: float
    high: float
    confidence: float
    """The confidence of the interval: as strict as the step of Holm's procedure at which the pair is tested."""
    p: float
    adjusted_p: float
    """The p after Holm, over the part of the level that the look may use: it is held against the whole level."""
    tie_p: float
    """The p of a difference beyond the margin, adjusted likewise."""
    detectable_effect: float
    """Smallest difference that is called with 80 % power, at the least."""
    mann_whitney_p: float | None = None
    """Mann-Whitney's p, only where normality was rejected."""
    warnings: tuple[Doubt, ...] = ()

    @property
    def settled(self) -> bool:
        """Tell whether more blocks are not needed."""
        return self.verdict is not RankVerdict.INCONCLUSIVE


@dataclass(frozen=True, slots=True)
class Ranking:
    """The ranking of all arms that blocks tell."""

    pairs: tuple[Pair, ...]
    levels: tuple[float | None, ...]
    """Rows per second of every arm at speed 1; None where nothing was measured of it."""

    @property
    def ranks(self) -> tuple[int, ...]:
        """Rank of every arm."""
        slower = [pair.second for pair in self.pairs if pair.verdict is RankVerdict.FASTER]
        return tuple(1 + slower.count(arm) for arm in range(len(self.levels)))

    @property
    def order(self) -> tuple[int, ...]:
        """Arms by rank; those that share one by what was seen of them."""
        return tuple(sorted(range(len(self.levels)), key=lambda arm: (self.ranks[arm], -(self.levels[arm] or 0.0))))

    @property
    def leaders(self) -> tuple[int, ...]:
        """Arms of the first rank, in order."""
        return tuple(arm for arm in self.order if self.ranks[arm] == min(self.ranks))

    @property
    def verdict(self) -> RankVerdict:
        """Faster where one arm beats all others, tie where all at the top tie, else inconclusive."""
        if len(self.leaders) == 1:
            return RankVerdict.FASTER
        among = [pair for pair in self.pairs if pair.first in self.leaders and pair.second in self.leaders]
        return RankVerdict.TIE if all(pair.verdict is RankVerdict.TIE for pair in among) else RankVerdict.INCONCLUSIVE

    def pair(self, one: int, other: int) -> Pair:
        """Return the pair of two arms, in whichever order it is."""
        return next(pair for pair in self.pairs if {pair.first, pair.second} == {one, other})

    @property
    def unsettled(self) -> set[int]:
        """Arms of which more blocks are needed."""
        return {arm for pair in self.pairs if not pair.settled for arm in (pair.first, pair.second)}


def rank(
    blocks: Sequence[Block], arms: int, terms: Terms, *, part: float = 1.0, settled: Sequence[Pair] = ()
) -> Ranking:
    """Rank arms 0 to `arms` − 1 by blocks in time order; `part` is the part of the level that this look may use.

    `settled` are the pairs that an earlier look settled.
    """
    known = {frozenset((pair.first, pair.second)) for pair in settled}
    open_pairs = [pair for pair in combinations(range(arms), 2) if frozenset(pair) not in known]
    tested = {
        (one, other): found
        for one, other in open_pairs
        if (found := arm_difference(blocks, reference=one, candidate=other)) is not None
    }
    # What can't be tested counts as well: it might have been.
    p_values = [tested[pair].found.p if pair in tested else 1.0 for pair in open_pairs]
    tie_p_values = [tested[pair].found.equivalence_p(terms.margin) if pair in tested else 1.0 for pair in open_pairs]
    # Holm tests the smallest p at the level over all pairs, the next one at the level over all but one, and so on.
    sharing = len(open_pairs) - np.argsort(np.argsort(p_values, kind="stable"), kind="stable")
    levels = _levels(blocks, arms)
    look = _Look(terms, terms.alpha * part, len(open_pairs))
    made = [
        look.pair(pair, tested[pair], int(share), adjusted_p, tie_p) if pair in tested else _untested(*pair, levels)
        for pair, share, adjusted_p, tie_p in zip(
            open_pairs, sharing, _over(part, holm(p_values)), _over(part, holm(tie_p_values)), strict=True
        )
    ]
    return Ranking((*settled, *made), levels)


def _over(part: float, p_values: Sequence[float]) -> list[float]:
    return [min(1.0, p / part) for p in p_values]


@dataclass(frozen=True, slots=True)
class _Look:
    """What a look at the blocks may claim."""

    terms: Terms
    alpha: float
    family: int
    """The number of pairs that are tested."""

    def pair(
        self, arms: tuple[int, int], compared: ArmDifference, sharing: int, adjusted_p: float, tie_p: float
    ) -> Pair:
        """Say what is known of two arms, the faster one first; `sharing` pairs share the level of this one's test."""
        found = compared.found
        one, other = arms
        first, second = (other, one) if found.difference > 0 else (one, other)
        log = LogDifference(abs(found.difference), found.standard_error, found.degrees_of_freedom)
        effect = relative(log.difference)
        low, high = log.interval(self.alpha / sharing)
        verdict = RankVerdict.INCONCLUSIVE
        if adjusted_p < self.terms.alpha and effect >= self.terms.relevant_effect:
            verdict = RankVerdict.FASTER
        elif tie_p < self.terms.alpha:
            verdict = RankVerdict.TIE
        return Pair(
            first=first,
            second=second,
            verdict=verdict,
            effect=effect,
            low=low,
            high=high,
            confidence=1 - self.alpha / sharing,
            p=log.p,
            adjusted_p=adjusted_p,
            tie_p=tie_p,
            detectable_effect=log.detectable_effect(self.alpha / self.family, self.terms.relevant_effect),
            mann_whitney_p=compared.mann_whitney_p,
            warnings=() if compared.mann_whitney_p is None else (Doubt.NOT_NORMAL,),
        )


def _untested(one: int, other: int, levels: Sequence[float | None]) -> Pair:
    """Return the pair that can't be tested: whatever was seen, any difference is possible."""
    one_level, other_level = levels[one] or 0.0, levels[other] or 0.0
    first, second = (other, one) if other_level > one_level else (one, other)
    low, high = sorted((one_level, other_level))
    return Pair(
        first=first,
        second=second,
        verdict=RankVerdict.INCONCLUSIVE,
        effect=high / low - 1 if low else 0.0,
        low=-1.0,
        high=math.inf,
        confidence=1.0,
        p=1.0,
        adjusted_p=1.0,
        tie_p=1.0,
        detectable_effect=math.inf,
        warnings=(Doubt.TOO_FEW_WINDOWS,),
    )


def _levels(blocks: Sequence[Block], arms: int) -> tuple[float | None, ...]:
    """Return the geometric mean of every arm's block means, normalised by the speed index."""
    usable = [block for block in blocks if block.values and min(block.values) > 0]
    slope = speed_slope(usable)
    means = [
        [float(np.log(normalised(block, slope)).mean()) for block in usable if block.arm == arm] for arm in range(arms)
    ]
    return tuple(math.exp(sum(of_arm) / len(of_arm)) if of_arm else None for of_arm in means)
