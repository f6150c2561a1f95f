"""Confirmation, the test of a claim: arms measured in interleaved blocks (ABBA…), the block as the unit.

A block is one deployment of one arm. Its windows are correlated and share the machine's state of the moment, so they
count as one value: the mean of their logs, normalised by the speed index (control_variate.py). The order, mirrored
after every pass, makes the arms meet a steady drift alike; what is steady in it is estimated as a linear trend over the
blocks and removed, given at least eight of them. The difference of the arms is then tested with Welch's
t-test on blocks, for which each arm gives half a degree of freedom to the trend.

The verdict: increased or decreased where p < alpha (and the effect at least `relevant_effect`, if given); else
unchanged where two one-sided tests say that the effect lies within ± `margin`; else inconclusive.

The slope of the index is taken from windows within blocks: of the designs that were tried it has the most power among
those that keep their level under drift (scripts/benches/results/statistics.md).

Blocks that were measured at the same time, or close after one another by arms that stand, are pairs
(`BlockLayout.paired`): the differences within them are tested, with Student's t-test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from profiler.statistics.control_variate import normalised, speed_slope
from profiler.statistics.doubt import Doubt
from profiler.statistics.normality import mann_whitney_where_not_normal
from profiler.statistics.result import Comparison, Verdict
from profiler.statistics.screening import direction, untestable
from profiler.statistics.student import LogDifference, relative, welch_satterthwaite

EQUIVALENCE_MARGIN = 0.05
"""Arms whose effects lie within this are called unchanged."""
_FEWEST_FOR_TREND = 8
"""The fewest blocks for a trend: with fewer it would cost more degrees of freedom than it is worth."""
_SESSION_FREEDOM = 2
"""Degrees of freedom of what sessions differ by: it was seen in three of them."""


@dataclass(frozen=True, slots=True)
class BlockLayout:
    """The order in time of the blocks of two arms."""

    interleaved: bool = True
    """Whether the arms took turns; False where one arm's blocks were all measured before the other's, in another
    session."""
    session_sd: float = 0.0
    """Standard deviation of logs from session to session, which blocks of one session do not show."""
    paired: bool = False
    """Whether the first blocks of both arms belong together, and the second ones, and so on: the machine was the same
    for both."""
    at_once: bool = True
    """Whether the blocks of a pair were measured at the same time; else the speed index may differ between them."""


IN_TURNS = BlockLayout()


@dataclass(frozen=True, slots=True)
class Block:
    """One deployment of one arm, in time order among the others: its windows and their speed index."""

    arm: int
    values: tuple[float, ...]
    speed_index: tuple[float, ...] = ()


def order(blocks_per_arm: int, arms: int = 2) -> tuple[int, ...]:
    """Return the arm of every block: all arms in turn, then mirrored, and so on: ABBAABBA…, ABCCBAABC….

    An even number of blocks per arm is best: every arm's mean position in time is then the same.
    """
    forth = tuple(range(arms))
    back = forth[::-1]
    return tuple(arm for turn in range(blocks_per_arm) for arm in (back if turn % 2 else forth))


def confirm(
    blocks: Sequence[Block],
    *,
    reference: int = 0,
    candidate: int = 1,
    alpha: float = 0.05,
    relevant_effect: float = 0.0,
    margin: float = EQUIVALENCE_MARGIN,
    layout: BlockLayout = IN_TURNS,
) -> Comparison:
    """Compare two arms of interleaved blocks, given in time order; blocks of other arms only fill the time between."""
    of_arm = [block.arm for block in blocks]
    n_reference, n_candidate = of_arm.count(reference), of_arm.count(candidate)
    if layout.paired:
        n_reference = n_candidate = min(n_reference, n_candidate)
    compared = arm_difference(blocks, reference=reference, candidate=candidate, layout=layout)
    if compared is None:
        return untestable("blocks", n_reference, n_candidate)
    found, mann_whitney_p = compared.found, compared.mann_whitney_p
    low, high = found.interval(alpha)
    return Comparison(
        test="blocks",
        verdict=_verdict(found, alpha, relevant_effect, margin),
        effect=relative(found.difference),
        low=low,
        high=high,
        p=found.p,
        detectable_effect=found.detectable_effect(alpha, relevant_effect),
        n_reference=n_reference,
        n_candidate=n_candidate,
        mann_whitney_p=mann_whitney_p,
        warnings=() if mann_whitney_p is None else (Doubt.NOT_NORMAL,),
    )


@dataclass(frozen=True, slots=True)
class ArmDifference:
    """Candidate minus reference in logs, and what it was taken from."""

    found: LogDifference
    reference_log: float
    """Mean of the reference's blocks, normalised."""
    mann_whitney_p: float | None
    """Mann-Whitney's p, only where normality was rejected."""


def arm_difference(
    blocks: Sequence[Block], *, reference: int = 0, candidate: int = 1, layout: BlockLayout = IN_TURNS
) -> ArmDifference | None:
    """Estimate how two arms differ; None where nothing can be tested: fewer than two blocks, or one without a value.

    Blocks that are not interleaved have no trend that could be told from the difference, and two sessions' differences
    in them.
    """
    if layout.paired:
        return _paired_difference(blocks, reference, candidate, at_once=layout.at_once)
    ours = [(position, block) for position, block in enumerate(blocks) if block.arm in (reference, candidate)]
    is_candidate = np.array([block.arm == candidate for _, block in ours], dtype=np.bool_)
    testable = all(block.values and min(block.values) > 0 for _, block in ours)
    if not testable or min(int(is_candidate.sum()), int((~is_candidate).sum())) < 2:
        return None
    slope = speed_slope([block for _, block in ours])
    means = np.array([np.log(normalised(block, slope)).mean() for _, block in ours])
    time = np.array([float(position) for position, _ in ours]) if layout.interleaved else None
    found, detrended = _difference(means, is_candidate, time)
    if not layout.interleaved:
        found = _across_sessions(found, layout.session_sd)
    before, after = detrended[~is_candidate], detrended[is_candidate]
    return ArmDifference(found, float(before.mean()), mann_whitney_where_not_normal(before, after))


def _paired_difference(
    blocks: Sequence[Block], reference: int, candidate: int, *, at_once: bool
) -> ArmDifference | None:
    """Estimate the difference from pairs: what the machine did to both is not in it.

    The speed of the machine is the same for blocks that ran at once; where they did not, the index tells. An arm that
    was given up early has fewer blocks, and the others' later ones have no partner.
    """
    pairs = list(zip(_of_arm(blocks, reference), _of_arm(blocks, candidate), strict=False))
    if len(pairs) < 2 or not all(block.values and min(block.values) > 0 for pair in pairs for block in pair):
        return None
    slope = 0.0 if at_once else speed_slope([block for pair in pairs for block in pair])
    before, after = (np.array([np.log(normalised(pair[arm], slope)).mean() for pair in pairs]) for arm in (0, 1))
    differences = after - before
    found = LogDifference(float(differences.mean()), float(stats.sem(differences)), len(pairs) - 1)
    return ArmDifference(found, float(before.mean()), mann_whitney_where_not_normal(before, after, paired=True))


def _of_arm(blocks: Sequence[Block], arm: int) -> list[Block]:
    return [block for block in blocks if block.arm == arm]


def _across_sessions(found: LogDifference, session_sd: float) -> LogDifference:
    """Add what two sessions may differ by although the code is the same."""
    within = (found.standard_error**2, found.degrees_of_freedom)
    return LogDifference(found.difference, *welch_satterthwaite([within, (2 * session_sd**2, _SESSION_FREEDOM)]))


def _verdict(found: LogDifference, alpha: float, relevant_effect: float, margin: float) -> Verdict:
    changed = direction(found, alpha, relevant_effect)
    if changed is not None:
        return changed
    return Verdict.UNCHANGED if found.equivalence_p(margin) < alpha else Verdict.INCONCLUSIVE


def _difference(
    means: NDArray[np.float64], is_candidate: NDArray[np.bool_], time: NDArray[np.float64] | None
) -> tuple[LogDifference, NDArray[np.float64]]:
    """Fit arms and, with enough blocks, a linear trend; return the difference and the means without the trend."""
    for_trend = 0.0
    inflation = 1.0
    if time is not None and len(means) >= _FEWEST_FOR_TREND:
        arm_columns = np.column_stack([~is_candidate, is_candidate]).astype(np.float64)
        trend = time - time.mean()
        fit = np.linalg.lstsq(np.column_stack([arm_columns, trend]), means, rcond=None)[0]
        means = means - fit[2] * trend
        # Where an interrupted order leaves arms and time correlated, the trend's error enters the difference.
        inflation = 1 / (1 - float(np.corrcoef(is_candidate, trend)[0, 1]) ** 2)
        for_trend = 0.5
    components = []
    for of_arm in (means[~is_candidate], means[is_candidate]):
        freedom = len(of_arm) - 1 - for_trend
        squares = float(np.sum((of_arm - of_arm.mean()) ** 2))
        components.append((inflation * squares / freedom / len(of_arm), freedom))
    difference = float(means[is_candidate].mean() - means[~is_candidate].mean())
    return LogDifference(difference, *welch_satterthwaite(components)), means
