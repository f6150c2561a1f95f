"""How many blocks it would take to tell what a gate could not, from the noise of those that it has.

A slowdown is found where a test with so many blocks calls it with 80 % power, and ruled out where one of no more than
what was seen would be, as often. Both grow with the blocks only where the versions took turns: what sessions differ by
stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from profiler.experiment.comparing.turns import EARLY_PART
from profiler.experiment.observation import BlockWindows
from profiler.questions.gate.criteria import BASELINE, CANDIDATE, Criterion
from profiler.questions.gate.criterion_tests import CriterionTest, job_tests, operator_tests
from profiler.questions.gate.verdict import MUST_PASS, GateLimits
from profiler.statistics.confirmation import BlockLayout

MOST_BLOCKS = 100
"""The most blocks of each version that a gate can be asked for."""
LAST_LOOK = 1 - EARLY_PART
"""The part of the significance level that the look at the end may use."""


def blocks_to_find(
    blocks: Sequence[BlockWindows], operator: str, effect: float, limits: GateLimits, layout: BlockLayout
) -> int | None:
    """Foresee how many blocks of each version find an operator that adds this part of the job's CPU per row.

    None where there is nothing to foresee it from, or `MOST_BLOCKS` would not.
    """
    alpha = LAST_LOOK * limits.alpha
    tests = [job_tests(blocks, layout).get(Criterion.CPU), operator_tests(blocks, alpha, layout).get(operator)]
    there = _per_version(blocks)
    known = [test for test in tests if test is not None]
    return _fewest(lambda number: any(_finds(test.foreseen(there, number), effect, limits) for test in known))


def blocks_to_settle(blocks: Sequence[BlockWindows], limits: GateLimits, layout: BlockLayout) -> int | None:
    """Foresee how many blocks of each version let a gate pass or fail, if what it saw so far is the truth."""
    tests, there = job_tests(blocks, layout), _per_version(blocks)

    def settle(number: int) -> bool:
        then = [tests[criterion].foreseen(there, number) for criterion in MUST_PASS]
        if any(_finds(test, test.estimate + test.moved, limits) for test in then):
            return True
        return all(_rules_out(test, limits) for test in then)

    return _fewest(settle) if all(criterion in tests for criterion in MUST_PASS) else None


def _finds(test: CriterionTest, effect: float, limits: GateLimits) -> bool:
    return test.detectable(LAST_LOOK * limits.alpha / len(Criterion), limits.max_slowdown) <= effect


def _rules_out(test: CriterionTest, limits: GateLimits) -> bool:
    room = (1 + limits.rule_out) / (1 + max(0.0, test.estimate)) - 1
    return test.detectable(LAST_LOOK * limits.alpha, 0.0) <= room


def _per_version(blocks: Sequence[BlockWindows]) -> int:
    arms = [block.arm for block in blocks]
    return min(arms.count(BASELINE), arms.count(CANDIDATE))


def _fewest(are_enough: Callable[[int], bool]) -> int | None:
    return next((number for number in range(2, MOST_BLOCKS + 1) if are_enough(number)), None)
