"""What a gate says, in sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping

from profiler.questions.gate.answer import NeededAnswer
from profiler.questions.gate.criteria import Criterion
from profiler.questions.gate.drill.preparation import Drilled
from profiler.questions.gate.experiment import FEWEST_BLOCKS
from profiler.questions.gate.needed_blocks import MOST_BLOCKS
from profiler.questions.gate.result import GateResult
from profiler.questions.gate.verdict import MUST_PASS, CriterionFinding, GateLimits, GateVerdict, Judgement
from profiler.report.words import counted

LABELS = {
    Criterion.CPU: "CPU per row",
    Criterion.OPERATOR: "one operator's CPU",
    Criterion.THROUGHPUT: "throughput",
    Criterion.LATENCY: "latency p95",
}
"""Names of the criteria."""


def why(
    outcome: GateResult,
    limits: GateLimits,
    differences: Mapping[str, tuple[str, str]],
    needed: NeededAnswer | None = None,
) -> str:
    """Say in one sentence what the verdict rests on, and what it would take where it is open."""
    judgement = outcome.judgement
    if judgement is None:
        return _nothing_measured(outcome, differences)
    if outcome.drilled is not None and judgement.verdict is not GateVerdict.SLOWER:
        return _missed(judgement[Criterion.CPU], outcome.drilled, limits, needed)
    if judgement.verdict is GateVerdict.SLOWER:
        found = [finding for finding in judgement.findings if finding.verdict is GateVerdict.SLOWER]
        changes = ", ".join(f"{LABELS[finding.criterion]} {finding.effect:+.1%}" for finding in found)
        slower = judgement.slower_operator
        mostly = f", mostly in '{slower.name}'" if slower else ""
        return f"{changes}{mostly}; the limit is a slowdown of {percent(limits.max_slowdown)}"
    decisive = [judgement[criterion] for criterion in MUST_PASS]
    ruled_out = f"a slowdown of {percent(limits.rule_out)}"
    if judgement.verdict is GateVerdict.PASS:
        return f"{ruled_out} is ruled out: {' and '.join(map(_at_worst, decisive))}"
    unsettled = [_at_worst(finding) for finding in decisive if finding.verdict is GateVerdict.INCONCLUSIVE]
    more = _asked(needed) if needed is not None and needed.blocks > decisive[0].n_candidate else "more --blocks"
    return f"{ruled_out} can't be ruled out: {' and '.join(unsettled)}; {more} or a quieter machine may"


def why_saved(blocks: int, judgement: Judgement | None) -> str:
    """Say what a new baseline is good for."""
    sees = math.inf if judgement is None else judgement[Criterion.CPU].detectable_effect
    good = f"; met by itself, it would have shown {sees:+.1%} CPU per row" if math.isfinite(sees) else ""
    return f"the baseline has {counted(blocks, 'block')}{good}"


def percent(part: float) -> str:
    """Write a part as a person would: 5%, 7.5%."""
    return f"{round(100 * part, 2):g}%"


def _at_worst(finding: CriterionFinding) -> str:
    worst = finding.low if finding.criterion is Criterion.THROUGHPUT else finding.high
    return f"{LABELS[finding.criterion]} {f'{worst:+.1%} at worst' if math.isfinite(worst) else 'is not known'}"


def _missed(seen: CriterionFinding, drilled: Drilled, limits: GateLimits, needed: NeededAnswer | None) -> str:
    sees = seen.detectable_effect
    found = f"{sees:+.1%} are found four times in five" if math.isfinite(sees) else "there are too few blocks to tell"
    return (
        f"the drill was not found: {drilled.expected_effect:+.1%} CPU per row were expected of it, {seen.effect:+.1%} "
        f"were seen and {found}; {_may_do(seen, drilled, limits, needed)}"
    )


def _may_do(seen: CriterionFinding, drilled: Drilled, limits: GateLimits, needed: NeededAnswer | None) -> str:
    """Say what lets a drill be found: no number of blocks shows what is below the limit."""
    if drilled.expected_effect < limits.max_slowdown:
        return (
            f"it is below the limit of {percent(limits.max_slowdown)}: a longer drill or a lower --max-slowdown may do"
        )
    if not math.isfinite(seen.detectable_effect):
        return "give it more with --budget"
    if needed is None:
        return f"{MOST_BLOCKS} blocks of each version would not find it: a longer drill may do"
    if needed.blocks <= seen.n_candidate:
        return "so many blocks find it four times in five: this was the fifth"
    return f"{_asked(needed)} would find it four times in five"


def _asked(needed: NeededAnswer) -> str:
    """Say how to ask for so many blocks."""
    return f"--blocks {needed.blocks}" + ("" if needed.minutes is None else f" --budget {needed.minutes}m")


def _nothing_measured(outcome: GateResult, differences: Mapping[str, tuple[str, str]]) -> str:
    if outcome.drilled is not None:
        return f"the drill was not measured: there is no time for {FEWEST_BLOCKS} blocks of each version"
    changed = ", ".join(f"{key} was {there}, is {here}" for key, (there, here) in differences.items())
    return f"the baseline was measured elsewhere ({changed}); --force compares all the same"
