"""What a gate says, in sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping

from profiler.questions.gate.criteria import Criterion
from profiler.questions.gate.drill.preparation import Drilled
from profiler.questions.gate.experiment import FEWEST_BLOCKS, GateResult
from profiler.questions.gate.verdict import MUST_PASS, CriterionFinding, GateLimits, GateVerdict, Judgement

LABELS = {
    Criterion.CPU: "CPU per row",
    Criterion.OPERATOR: "one operator's CPU",
    Criterion.THROUGHPUT: "throughput",
    Criterion.LATENCY: "latency p95",
}
"""Names of the criteria."""


def why(outcome: GateResult, limits: GateLimits, differences: Mapping[str, tuple[str, str]]) -> str:
    """Say in one sentence what the verdict rests on."""
    judgement = outcome.judgement
    if judgement is None:
        return _nothing_measured(outcome, limits, differences)
    if outcome.drilled is not None and judgement.verdict is not GateVerdict.SLOWER:
        return _missed(judgement[Criterion.CPU], outcome.drilled, limits)
    if judgement.verdict is GateVerdict.SLOWER:
        found = [finding for finding in judgement.findings if finding.verdict is GateVerdict.SLOWER]
        changes = ", ".join(f"{LABELS[finding.criterion]} {finding.effect:+.1%}" for finding in found)
        slower = judgement.slower_operator
        mostly = f", mostly in '{slower.name}'" if slower else ""
        return f"{changes}{mostly}; the limit is a slowdown of {percent(limits.max_slowdown)}"
    needed = [judgement[criterion] for criterion in MUST_PASS]
    ruled_out = f"a slowdown of {percent(limits.rule_out)}"
    if judgement.verdict is GateVerdict.PASS:
        return f"{ruled_out} is ruled out: {' and '.join(map(_at_worst, needed))}"
    unsettled = [_at_worst(finding) for finding in needed if finding.verdict is GateVerdict.INCONCLUSIVE]
    return f"{ruled_out} can't be ruled out: {' and '.join(unsettled)}; more --blocks or a quieter machine may"


def why_saved(blocks: int, judgement: Judgement | None) -> str:
    """Say what a new baseline is good for."""
    sees = math.inf if judgement is None else judgement[Criterion.CPU].detectable_effect
    good = f"; met by itself, it would have shown {sees:+.1%} CPU per row" if math.isfinite(sees) else ""
    return f"the baseline has {blocks} blocks{good}"


def percent(part: float) -> str:
    """Write a part as a person would: 5%, 7.5%."""
    return f"{round(100 * part, 2):g}%"


def _at_worst(finding: CriterionFinding) -> str:
    worst = finding.low if finding.criterion is Criterion.THROUGHPUT else finding.high
    return f"{LABELS[finding.criterion]} {f'{worst:+.1%} at worst' if math.isfinite(worst) else 'is not known'}"


def _missed(seen: CriterionFinding, drilled: Drilled, limits: GateLimits) -> str:
    return (
        f"the drill was not found: {drilled.expected_effect:+.1%} CPU per row were expected of it, {seen.effect:+.1%} "
        f"were seen and {seen.detectable_effect:+.1%} are found four times in five; {_may_do(drilled, limits)}"
    )


def _may_do(drilled: Drilled, limits: GateLimits) -> str:
    """Say what may let a drill be found: no number of blocks shows what is below the limit."""
    other = "a lower --max-slowdown" if drilled.expected_effect < limits.max_slowdown else "more --blocks"
    return f"a longer drill or {other} may do"


def _nothing_measured(outcome: GateResult, limits: GateLimits, differences: Mapping[str, tuple[str, str]]) -> str:
    if outcome.drilled is not None and not outcome.complete:
        return f"the drill was not measured: there is no time for {FEWEST_BLOCKS} blocks of each version"
    if outcome.drilled is not None:
        drilled = outcome.drilled
        return (
            f"the drill was not measured: {drilled.expected_effect:+.1%} CPU per row are expected of it, and the gate "
            f"finds {drilled.foreseen_effect:+.1%} at the best; {_may_do(drilled, limits)}"
        )
    changed = ", ".join(f"{key} was {there}, is {here}" for key, (there, here) in differences.items())
    return f"the baseline was measured elsewhere ({changed}); --force compares all the same"
