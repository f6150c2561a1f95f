"""The tests of a gate: how much longer the candidate takes, criterion by criterion, and operator by operator.

Each is a difference of log times on blocks. What an operator adds is counted in parts of the job's CPU per row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from profiler.experiment.observation import BlockWindows
from profiler.questions.gate.criteria import BLOCKS, Criterion, with_values
from profiler.questions.gate.slower_operator import OperatorQuantity, operator_changes, operator_differences
from profiler.statistics.confirmation import ArmDifference, Block, BlockLayout, arm_difference
from profiler.statistics.student import LogDifference, relative


@dataclass(frozen=True, slots=True)
class CriterionTest:
    """A criterion that can be tested: a difference of log times, and what the whole job makes of it."""

    slowdown: LogDifference
    baseline: float
    weight: float = 1.0
    """Part of the job's time that it is about."""
    tries: int = 1
    """The number of operators of which it is the one that grew the most (Bonferroni)."""
    moved: float = 0.0
    """The work that others do less for certain, as a part of the job's time: negative, or none."""
    mann_whitney_p: float | None = None

    @property
    def p(self) -> float:
        """The one-sided p of no slowdown."""
        return min(1.0, self.tries * self.slowdown.increase_p)

    @property
    def estimate(self) -> float:
        """The slowdown, as a part of the job's time."""
        return self.weight * relative(self.slowdown.difference)

    def bounds(self, alpha: float) -> tuple[float, float]:
        """Give the ends of the slowdown, each of which holds with 1 - alpha."""
        low, high = self.slowdown.interval(2 * alpha / self.tries)
        return self.weight * low, self.weight * high

    def detectable(self, alpha: float, relevant: float) -> float:
        """Give the smallest slowdown that is called with 80 % power where one below `relevant` never is."""
        return self.weight * self.slowdown.detectable_effect(2 * alpha / self.tries, relevant / self.weight)

    def foreseen(self, blocks: int, blocks_then: int) -> CriterionTest:
        """Foresee the same test with so many blocks of each version instead of those that it has, of equal noise."""
        error = self.slowdown.standard_error * math.sqrt(blocks / blocks_then)
        freedom = self.slowdown.degrees_of_freedom * (blocks_then - 1) / (blocks - 1)
        return replace(self, slowdown=replace(self.slowdown, standard_error=error, degrees_of_freedom=freedom))


def job_tests(blocks: Sequence[BlockWindows], layout: BlockLayout) -> dict[Criterion, CriterionTest]:
    """Test the criteria of the whole job, those that can be."""
    return {
        criterion: _job_test(criterion, found)
        for criterion, read in BLOCKS.items()
        if (found := arm_difference(_readable(criterion, read(blocks), layout), layout=layout)) is not None
    }


def operator_tests(blocks: Sequence[BlockWindows], alpha: float, layout: BlockLayout) -> dict[str, CriterionTest]:
    """Test the operators that both versions have, by what they add to the job's CPU per row."""
    differences = operator_differences(blocks, OperatorQuantity.CPU, layout)
    known = {name: each for name, each in differences.items() if each is not None}
    changes = operator_changes(blocks, OperatorQuantity.CPU, alpha / max(1, len(known)), layout)
    total_s = sum(each.baseline_s for each in changes)
    certain_s = sum(each.increase_s for each in changes if each.is_gone or each.is_new or each.high < 0)
    return {
        name: CriterionTest(
            each.found,
            total_s,
            math.exp(each.reference_log) / total_s,
            len(known),
            moved=min(0.0, certain_s / total_s),
            mann_whitney_p=each.mann_whitney_p,
        )
        for name, each in known.items()
    }


def _readable(criterion: Criterion, blocks: list[Block], layout: BlockLayout) -> list[Block]:
    """Latency may be unknown in a block; a block without any of the others cannot be."""
    return with_values(blocks, paired=layout.paired) if criterion is Criterion.LATENCY else blocks


def _job_test(criterion: Criterion, found: ArmDifference) -> CriterionTest:
    """Turn a difference of values, of which more is better, into one of times."""
    log = found.found
    slowdown = LogDifference(-log.difference, log.standard_error, log.degrees_of_freedom)
    is_rate = criterion is Criterion.THROUGHPUT
    baseline = math.exp(found.reference_log if is_rate else -found.reference_log)
    return CriterionTest(slowdown, baseline, mann_whitney_p=found.mann_whitney_p)
