"""Confirm an answer: measure it against other rounds in interleaved blocks, and look three times.

A gain of a hundred percent needs no twelve blocks, so two of the looks are early ones (turns.py). An arm whose case is
decided early is not measured any more. Neither is a rival that only matters where it beats the first arm, and shows no
sign of it: that saves blocks and loses hardly any power (scripts/benches/results/statistics.md).

Where the slots hold all arms at once they stand, and only the load changes between their blocks (standing.py).
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field

from profiler.experiment.comparing.blocks import Arm, Blocks, throughput_blocks
from profiler.experiment.comparing.standing import StandingArms
from profiler.experiment.comparing.turns import Turns, looks
from profiler.experiment.engine import Engine
from profiler.experiment.events import Listener, ignore
from profiler.experiment.window_plan import WindowPlan
from profiler.job.topology import Topology
from profiler.statistics.confirmation import IN_TURNS, Block, BlockLayout, confirm
from profiler.statistics.result import Comparison, Verdict

STANDING = BlockLayout(paired=True, at_once=False)
"""The layout of blocks of arms that stand: those of a turn are close together."""
SIGN = 0.3
"""The p below which a rival that seems better shows a sign of being it."""


@dataclass(slots=True)
class Confrontation:
    """The first arm against the others: the blocks so far, and what they say of each."""

    alpha: float
    layout: BlockLayout = IN_TURNS
    blocks: list[Block] = field(default_factory=list)
    against: dict[int, Comparison] = field(default_factory=dict)
    """Comparisons by the other arm's index; the effect is the first arm's."""
    part: float = 1.0
    """Part of the significance level that the last look used."""

    def look(self, others: Sequence[int], part: float) -> list[int]:
        """Compare with these arms at a part of the level; return those that are still undecided."""
        self.part = part
        for other in others:
            self.against[other] = self.compared(other, 0, self.part * self.alpha)
        return [other for other in others if not _decided(self.against[other])]

    def compared(self, reference: int, candidate: int, alpha: float) -> Comparison:
        """Compare any two arms by the blocks so far."""
        return confirm(self.blocks, reference=reference, candidate=candidate, alpha=alpha, layout=self.layout)


def confront(
    engine: Engine,
    topology: Topology,
    arms: Sequence[Arm],
    design: WindowPlan,
    *,
    alpha: float,
    rivals: Container[int] = (),
    standing: bool = False,
    report: Listener = ignore,
) -> Confrontation:
    """Measure the first arm against all others, interleaved; of `rivals` only those that may be better go on.

    `standing` arms are all deployed at once, so their tasks must fit.
    """
    made = Confrontation(alpha, STANDING if standing else IN_TURNS)
    blocks = Blocks(engine, topology, arms, design, report)
    others = list(range(1, len(arms)))
    with StandingArms(blocks) if standing else nullcontext(blocks) as measured:
        turns = Turns(
            range(len(arms)),
            looks(design.blocks),
            lambda turn: measured.in_turn(turn.order, before=turn.before, planned=turn.planned),
        )
        for part in turns:
            made.blocks = throughput_blocks(turns.blocks)
            undecided = made.look(others, part)
            others = [other for other in undecided if other not in rivals or _may_be_better(made.against[other])]
            if not others:
                break
            turns.arms = (0, *others)
    return made


def _may_be_better(comparison: Comparison) -> bool:
    return comparison.effect < 0 and comparison.p < SIGN


def _decided(comparison: Comparison) -> bool:
    return comparison.verdict in (Verdict.INCREASED, Verdict.DECREASED)
