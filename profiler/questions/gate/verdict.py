"""The verdict of a gate: is the candidate slower than the baseline? Four criteria, the block as the unit.

CPU per row × speed index (the sharp one), the same of a single operator, throughput, and latency (criteria.py) are
each tested for a slowdown on the logs of block means (confirmation.py); one-sidedly, as only a slowdown fails a gate.
Holm's adjustment keeps the family error at 5 %. A slowdown is a ratio of times: +25 % is 0.8 of the throughput. A
criterion says

    slower          adjusted p < 5 %, and the estimate is at least `max_slowdown`
    pass            with 95 % confidence the slowdown is below `rule_out`
    inconclusive    neither

and the gate: slower where any criterion does; pass where CPU per row and throughput both pass; else inconclusive.
Latency may fail a gate, but a pass does not wait for it: at the tail it varies several times as much as the others.
What it could not have seen is told beside it. It fails a gate only where an operator takes longer for certain, in CPU
or in working time, waiting included, as an operator that waits longer does. A latency that rose although no operator
did is the machine's or the broker's (scripts/benches/results/gate_spark.md), and is told. Where undeclared Python runs
in an operator its waiting is in no figure, so that there latency fails a gate by itself. Against the stored blocks of
an earlier session neither throughput nor latency may fail a gate, and what sessions differ by although nothing was
changed counts as noise.

Why a criterion for a single operator: what it adds is counted in parts of the job's CPU per row, so the noise of all
others does not hide it, and smaller slowdowns are found (scripts/benches/results/gate.md). It raises no false alarms:
what is not the whole job must grow by far more than the noise to add `max_slowdown` to it.
Work that moved from one operator to another is no slowdown: what others do less for certain is taken off before
`max_slowdown` is asked for, operators that are gone included (a renamed one is gone and new).

That `rule_out` is not `max_slowdown` but twice that is a **choice**: on shared machines most unchanged code would not
pass otherwise (scripts/benches/results/gate.md). A gate that cannot pass there would be left out of CI; one that says
what its pass rules out can be trusted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from profiler.experiment.observation import BlockWindows
from profiler.questions.gate.criteria import BASELINE, CANDIDATE, Criterion
from profiler.questions.gate.criterion_tests import CriterionTest, job_tests, operator_tests
from profiler.questions.gate.slower_operator import (
    OperatorChange,
    OperatorQuantity,
    is_slower_for_certain,
    operator_changes,
)
from profiler.statistics.confirmation import IN_TURNS, BlockLayout
from profiler.statistics.doubt import Doubt
from profiler.statistics.holm import holm

MUST_PASS = (Criterion.CPU, Criterion.THROUGHPUT)
"""Criteria without which a gate does not pass."""
FAIL_ACROSS_SESSIONS = (Criterion.CPU, Criterion.OPERATOR)
"""Criteria that may fail a gate against blocks of an earlier session: the machine's speed is taken out of them as a
factor. Rates and latencies follow a machine that is slower today, and code that did not change would be called slower;
how they follow it is learnt within blocks, which says nothing of two days."""


class GateVerdict(StrEnum):
    """What a gate, or one of its criteria, says of the candidate."""

    PASS = "pass"  # noqa: S105 - no password
    SLOWER = "slower"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class GateLimits:
    """What a gate is asked to find and to rule out; slowdowns are relative."""

    max_slowdown: float = 0.05
    """The smallest slowdown that fails."""
    rule_out: float = 0.10
    """The slowdown that a pass rules out."""
    alpha: float = 0.05
    """The error of calling a candidate slower that is not, over all criteria; and, criterion by criterion, of a wrong
    pass."""


@dataclass(frozen=True, slots=True)
class CriterionFinding:
    """One criterion: the candidate against the baseline, in the criterion's own direction and unit."""

    criterion: Criterion
    verdict: GateVerdict
    baseline: float
    """The baseline's value: CPU seconds per row, rows per second, or milliseconds."""
    candidate: float
    effect: float
    """The relative effect: +0.1 is 10 % more CPU per row, -0.1 is 10 % less throughput."""
    low: float
    high: float
    """The upper end of the interval; each end holds with the confidence of the judgement."""
    p: float
    """The one-sided p of no slowdown."""
    adjusted_p: float
    """The p after Holm, over the part of the level that the look may use: below 5 % is significant, whichever look it
    is."""
    detectable_effect: float
    """The smallest slowdown that is called with 80 % power, as an effect."""
    n_baseline: int
    n_candidate: int
    mann_whitney_p: float | None = None
    """Mann-Whitney's two-sided p, only where normality was rejected."""
    warnings: tuple[Doubt, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the blocks of a gate say, in one of its looks."""

    verdict: GateVerdict
    confidence: float
    """The confidence of this look's intervals."""
    findings: tuple[CriterionFinding, ...]
    operators: tuple[OperatorChange, ...]
    """The operators' changes, the one that adds the most seconds per row first."""
    latency_alone: bool = False
    """Whether latency rose and no operator did, so that it fails nothing."""

    @property
    def slower_operator(self) -> OperatorChange | None:
        """The operator that adds the most per row, where the candidate is slower; a new one what none did before.

        Where only latency says so, it is one that takes longer for certain.
        """
        slower = {finding.criterion for finding in self.findings if finding.verdict is GateVerdict.SLOWER}
        blamed = [each for each in self.operators if slower != {Criterion.LATENCY} or each.is_new or each.low > 0]
        gone_s = sum(each.baseline_s for each in self.operators if each.is_gone)

        def added_s(each: OperatorChange) -> float:
            return each.increase_s - (gone_s if each.is_new else 0.0)

        slowest = max(blamed, key=added_s, default=None)
        return slowest if self.verdict is GateVerdict.SLOWER and slowest and added_s(slowest) > 0 else None

    def __getitem__(self, criterion: Criterion) -> CriterionFinding:
        return next(finding for finding in self.findings if finding.criterion is criterion)


def judge(
    blocks: Sequence[BlockWindows], limits: GateLimits, *, part: float = 1.0, layout: BlockLayout = IN_TURNS
) -> Judgement:
    """Judge blocks in time order; `part` is the part of the significance level that this look may use."""
    alpha = part * limits.alpha
    tests = job_tests(blocks, layout)
    if of_operators := operator_tests(blocks, alpha, layout):
        tests[Criterion.OPERATOR] = max(of_operators.values(), key=lambda test: test.estimate)
    in_look = dict(zip(tests, holm([test.p for test in tests.values()]), strict=True))
    adjusted = {criterion: min(1.0, p / part) for criterion, p in in_look.items()}
    arms = [block.arm for block in blocks]
    findings = {
        criterion: _finding(
            criterion,
            tests[criterion],
            limits,
            alpha,
            adjusted,
            arms,
            may_fail=_may_fail(criterion, tests, alpha, layout),
        )
        if criterion in tests
        else _untested(criterion)
        for criterion in Criterion
    }
    slower = {criterion for criterion, finding in findings.items() if finding.verdict is GateVerdict.SLOWER}
    quantity = OperatorQuantity.CPU
    if slower == {Criterion.LATENCY}:
        cause = _cause_of_latency(blocks, limits, alpha, layout)
        if cause is None:
            findings[Criterion.LATENCY] = replace(findings[Criterion.LATENCY], verdict=GateVerdict.INCONCLUSIVE)
        quantity = cause or quantity
    elif slower and not slower & {Criterion.CPU, Criterion.OPERATOR}:
        quantity = OperatorQuantity.BUSY
    found = tuple(findings.values())
    operators = operator_changes(blocks, quantity, alpha, layout)
    latency_alone = slower == {Criterion.LATENCY} and _overall(found) is not GateVerdict.SLOWER
    return Judgement(_overall(found), 1 - alpha, found, operators, latency_alone)


def _cause_of_latency(
    blocks: Sequence[BlockWindows], limits: GateLimits, alpha: float, layout: BlockLayout
) -> OperatorQuantity | None:
    """Tell by which of its costs an operator takes longer, so that latency rises; by waiting, where that is hidden."""
    for quantity in (OperatorQuantity.BUSY, OperatorQuantity.CPU):
        if is_slower_for_certain(blocks, quantity, alpha, layout, relevant=limits.max_slowdown):
            return quantity
    operators = [each for block in blocks for window in block.windows for each in window.operators.values()]
    return OperatorQuantity.BUSY if any(each.hides_python for each in operators) else None


def _may_fail(
    criterion: Criterion, tests: Mapping[Criterion, CriterionTest], alpha: float, layout: BlockLayout
) -> bool:
    """Tell whether a criterion can call the candidate slower.

    Of versions that run at the same time, the one with fewer threads gets less of the cores: a version that certainly
    takes less CPU per row may only have had to wait for the other.
    """
    if criterion in FAIL_ACROSS_SESSIONS:
        return True
    is_cheaper = Criterion.CPU in tests and tests[Criterion.CPU].bounds(alpha)[1] < 0
    return layout.interleaved and not (layout.paired and is_cheaper)


def _finding(
    criterion: Criterion,
    test: CriterionTest,
    limits: GateLimits,
    alpha: float,
    adjusted: Mapping[Criterion, float],
    arms: Sequence[int],
    *,
    may_fail: bool,
) -> CriterionFinding:
    def effect(slowdown: float) -> float:
        """Return the effect in the criterion's own direction: of throughput there is less where it takes longer."""
        return 1 / (1 + slowdown) - 1 if criterion is Criterion.THROUGHPUT else slowdown

    low, high = test.bounds(alpha)
    verdict = GateVerdict.INCONCLUSIVE
    if adjusted[criterion] < limits.alpha and test.estimate + test.moved >= limits.max_slowdown:
        verdict = GateVerdict.SLOWER if may_fail else GateVerdict.INCONCLUSIVE
    elif high < limits.rule_out:
        verdict = GateVerdict.PASS
    ends = sorted((effect(low), effect(high)))
    return CriterionFinding(
        criterion=criterion,
        verdict=verdict,
        baseline=test.baseline,
        candidate=test.baseline * (1 + effect(test.estimate)),
        effect=effect(test.estimate),
        low=ends[0],
        high=ends[1],
        p=test.p,
        adjusted_p=adjusted[criterion],
        # Holm is never stricter than Bonferroni, so this is what the criterion sees at the least.
        detectable_effect=effect(test.detectable(alpha / len(adjusted), limits.max_slowdown)),
        n_baseline=arms.count(BASELINE),
        n_candidate=arms.count(CANDIDATE),
        mann_whitney_p=test.mann_whitney_p,
        warnings=() if test.mann_whitney_p is None else (Doubt.NOT_NORMAL,),
    )


def _untested(criterion: Criterion) -> CriterionFinding:
    """Return the finding of what cannot be tested: any effect is possible."""
    return CriterionFinding(
        criterion=criterion,
        verdict=GateVerdict.INCONCLUSIVE,
        baseline=math.nan,
        candidate=math.nan,
        effect=0.0,
        low=-1.0,
        high=math.inf,
        p=1.0,
        adjusted_p=1.0,
        detectable_effect=math.inf,
        n_baseline=0,
        n_candidate=0,
        warnings=(Doubt.TOO_FEW_WINDOWS,),
    )


def _overall(findings: Sequence[CriterionFinding]) -> GateVerdict:
    verdicts = {finding.criterion: finding.verdict for finding in findings}
    if GateVerdict.SLOWER in verdicts.values():
        return GateVerdict.SLOWER
    passes = all(verdicts[criterion] is GateVerdict.PASS for criterion in MUST_PASS)
    return GateVerdict.PASS if passes else GateVerdict.INCONCLUSIVE
