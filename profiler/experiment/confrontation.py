"""Confirm an answer: measure it against other rounds in interleaved blocks, and look three times.

A gain of a hundred percent needs no twelve blocks. So there are early looks after half of them and after two thirds,
each at a fifth of the significance level, and a last one at the other three fifths: together they raise no more false
alarms than one look would (Bonferroni). An arm whose case is decided early is not measured any more. Neither is a rival
that only matters where it beats the first arm, and shows no sign of it: one that is as good then takes 0.6 blocks more
than the early look instead of 2.6, and one that is better by what the last look finds in 60 % of the cases is found in
57 %.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from profiler.experiment.blocks import Arm, Blocks, throughput_blocks
from profiler.experiment.engine import Engine
from profiler.experiment.events import Listener, ignore
from profiler.experiment.window_plan import WindowPlan
from profiler.job.topology import Topology
from profiler.statistics.confirmation import Block, confirm, order
from profiler.statistics.result import Comparison, Verdict

EARLY_PART = 0.2
"""Part of the significance level that each early look may use."""
FEWEST_EARLY = 3
"""Blocks per arm that an early look needs."""
SIGN = 0.3
"""A rival that seems better with a p below this shows a sign of it."""


@dataclass(slots=True)
class Confrontation:
    """The first arm against the others: the blocks so far, and what they say of each."""

    alpha: float
    blocks: list[Block] = field(default_factory=list)
    against: dict[int, Comparison] = field(default_factory=dict)
    """By the other arm's index; the effect is the first arm's."""
    part: float = 1.0
    """Of the significance level that the last look used."""

    def look(self, others: Sequence[int], part: float) -> list[int]:
        """Compare with these arms at a part of the level; return those that are still undecided."""
        self.part = part
        for other in others:
            self.against[other] = confirm(self.blocks, reference=other, candidate=0, alpha=part * self.alpha)
        return [other for other in others if not _decided(self.against[other])]


def confront(
    engine: Engine,
    topology: Topology,
    arms: Sequence[Arm],
    design: WindowPlan,
    *,
    alpha: float,
    rivals: Container[int] = (),
    report: Listener = ignore,
) -> Confrontation:
    """Measure the first arm against all others, interleaved; of `rivals` only those that may be better go on."""
    made = Confrontation(alpha)
    measured = Blocks(engine, topology, arms, design, report)
    others = list(range(1, len(arms)))
    done = 0
    for passes, part in looks(design.blocks):
        turn = [0, *others]
        if done % 2:
            turn.reverse()  # goes on mirroring, so that every arm's mean position in time stays the same
        numbers = [turn[index] for index in order(passes - done, len(turn))]
        planned = len(made.blocks) + (design.blocks - done) * len(turn)
        seen = measured.in_turn(numbers, before=len(made.blocks), planned=planned)
        made.blocks += throughput_blocks(seen)
        undecided = made.look(others, part)
        others = [other for other in undecided if other not in rivals or _may_be_better(made.against[other])]
        done = passes
        if not others:
            break
    return made


def looks(blocks: int) -> list[tuple[int, float]]:
    """Return after how many blocks per arm to look, and with which part of the significance level."""
    early = (blocks + 1) // 2
    if early < FEWEST_EARLY:
        return [(blocks, 1.0)]
    return [(early, EARLY_PART), ((early + blocks) // 2, EARLY_PART), (blocks, 1 - 2 * EARLY_PART)]


def _may_be_better(comparison: Comparison) -> bool:
    return comparison.effect < 0 and comparison.p < SIGN


def _decided(comparison: Comparison) -> bool:
    return comparison.verdict in (Verdict.INCREASED, Verdict.DECREASED)
