"""What a gate ends with, put together: the verdict, what it rests on, and what there is to know of its blocks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from profiler.errors import ProfileError
from profiler.experiment.observation import BlockWindows, generator_limits
from profiler.job.configuration import Configuration
from profiler.questions.gate.answer import (
    Against,
    BaselineAnswer,
    BlocksOfBoth,
    CriterionAnswer,
    DrillAnswer,
    GateAnswer,
    GateBlockAnswer,
    GateLimitsAnswer,
    GateOutcome,
    NeededAnswer,
    OperatorAnswer,
)
from profiler.questions.gate.criteria import BASELINE, QUANTILE, UNITS, Criterion, cpu_s_per_row
from profiler.questions.gate.drill.preparation import Drilled
from profiler.questions.gate.result import GateResult
from profiler.questions.gate.slower_operator import OperatorChange
from profiler.questions.gate.verdict import CriterionFinding, GateLimits, Judgement
from profiler.questions.gate.words import why, why_saved
from profiler.report.doubts import ADVICE

EXIT_CODES = {GateOutcome.PASS: 0, GateOutcome.SLOWER: 1, GateOutcome.INCONCLUSIVE: 4, GateOutcome.SAVED: 0}


@dataclass(frozen=True, slots=True)
class GateCase:
    """The case of a gate: who was compared with whom, where and how."""

    topology: str
    engine: str
    configuration: Configuration
    against: Against
    baseline: str
    """The name of the baseline: one it was stored under, a revision, a file."""
    limits: GateLimits
    environment: Mapping[str, str]
    baseline_environment: Mapping[str, str] | None = None
    """The place where a stored baseline was measured."""
    only_saves: bool = False
    """Whether nothing was to be compared: the job met itself, so that the noise of a new baseline is known."""
    saved_baseline: str | None = None
    saved_blocks: int = 0
    saving_failed: bool = False
    """Whether the database did not take the baseline."""
    warnings: tuple[str, ...] = ()
    took_s: float | None = None
    """The seconds that all of the command takes; None where its windows take none."""

    @property
    def differences(self) -> dict[str, tuple[str, str]]:
        """What is different where the stored baseline was measured: there, and here."""
        there, here = self.baseline_environment, self.environment
        if there is None:
            return {}
        keys = dict.fromkeys((*there, *here))
        values = {key: (there.get(key, "unknown"), here.get(key, "unknown")) for key in keys}
        return {key: both for key, both in values.items() if both[0] != both[1]}


def gate_answer(case: GateCase, outcome: GateResult, *, run: str) -> GateAnswer:
    """Return what a gate ended with; `run` is its name in the history."""
    judgement = outcome.judgement
    slower = judgement.slower_operator if judgement else None
    verdict = _verdict(case, outcome)
    needed = None if case.only_saves else _needed(case, outcome)
    return GateAnswer(
        run=run,
        topology=case.topology,
        engine=case.engine,
        tasks=dict(case.configuration.tasks),
        verdict=verdict,
        exit_code=_exit_code(case, verdict),
        why=why_saved(case.saved_blocks, judgement) if verdict is GateOutcome.SAVED else _why(case, outcome, needed),
        baseline=BaselineAnswer(kind=case.against, name=case.baseline, interleaved=outcome.interleaved),
        limits=GateLimitsAnswer(
            max_slowdown=case.limits.max_slowdown, rule_out=case.limits.rule_out, significance=case.limits.alpha
        ),
        confidence=judgement.confidence if judgement else None,
        criteria=tuple(map(_criterion, judgement.findings)) if judgement else (),
        slower_operator=slower.name if slower else None,
        operators=tuple(map(_operator, judgement.operators)) if judgement else (),
        drill=_drill(outcome.drilled) if outcome.drilled else None,
        saved_baseline=case.saved_baseline,
        blocks=tuple(map(_block, outcome.blocks)),
        complete=outcome.complete,
        environment=case.environment,
        baseline_environment=case.baseline_environment,
        warnings=(*case.warnings, *_warnings(outcome, judgement)),
        needed=needed,
    )


def _verdict(case: GateCase, outcome: GateResult) -> GateOutcome:
    if not case.only_saves:
        return GateOutcome(outcome.verdict)
    return GateOutcome.INCONCLUSIVE if case.saved_baseline is None else GateOutcome.SAVED


def _exit_code(case: GateCase, verdict: GateOutcome) -> int:
    """Settle the exit code: a verdict stands without its baseline; one that was all that was asked for is missing."""
    return ProfileError.exit_code if case.only_saves and case.saving_failed else EXIT_CODES[verdict]


def _why(case: GateCase, outcome: GateResult, needed: NeededAnswer | None) -> str:
    if case.only_saves:
        return "there is no new baseline"
    return why(outcome, case.limits, case.differences, needed)


def _needed(case: GateCase, outcome: GateResult) -> NeededAnswer | None:
    """Tell how many blocks it would take, and how long that is: what all of it took, and the blocks that it lacks."""
    if outcome.needed_blocks is None:
        return None
    missing = outcome.needed_blocks - len(outcome.blocks) // 2
    minutes = None if case.took_s is None else math.ceil((case.took_s + max(0, missing) * outcome.turn_s) / 60)
    return NeededAnswer(blocks=outcome.needed_blocks, minutes=minutes)


def _criterion(finding: CriterionFinding) -> CriterionAnswer:
    unit, scale = UNITS[finding.criterion]
    return CriterionAnswer(
        criterion=finding.criterion,
        verdict=finding.verdict,
        unit=unit,
        baseline=_figure(scale * finding.baseline),
        candidate=_figure(scale * finding.candidate),
        effect=finding.effect,
        low=_figure(finding.low),
        high=_figure(finding.high),
        p=finding.p,
        adjusted_p=finding.adjusted_p,
        detectable_effect=_figure(finding.detectable_effect),
        mann_whitney_p=finding.mann_whitney_p,
        blocks=BlocksOfBoth(baseline=finding.n_baseline, candidate=finding.n_candidate),
        warnings=tuple(map(str, finding.warnings)),
    )


def _operator(change: OperatorChange) -> OperatorAnswer:
    return OperatorAnswer(
        name=change.name,
        quantity=change.quantity,
        baseline_us=1e6 * change.baseline_s,
        candidate_us=1e6 * change.candidate_s,
        increase_us=1e6 * change.increase_s,
        effect=_figure(change.effect),
        low=_figure(change.low),
        high=_figure(change.high),
    )


def _drill(drilled: Drilled) -> DrillAnswer:
    return DrillAnswer(
        operator=drilled.operator,
        part=drilled.part,
        share=drilled.share,
        expected_effect=drilled.expected_effect,
        foreseen_effect=drilled.foreseen_effect,
    )


def _block(block: BlockWindows) -> GateBlockAnswer:
    return GateBlockAnswer(
        version="baseline" if block.arm == BASELINE else "candidate",
        cpu_us_per_row=_mean([1e6 * cpu_s_per_row(window) for window in (*block.windows, *block.probe)]),
        throughput_per_s=_mean([window.throughput_per_s for window in block.windows]),
        latency_ms=_mean([window.processing_ms.quantile(QUANTILE) for window in block.probe]),
        speed_index=_mean([window.speed_index for window in block.windows]),
    )


def _mean(values: Sequence[float]) -> float | None:
    known = [value for value in values if math.isfinite(value)]
    return sum(known) / len(known) if known else None


def _figure(value: float) -> float | None:
    """Leave out what JSON has no number for."""
    return value if math.isfinite(value) else None


def _warnings(outcome: GateResult, judgement: Judgement | None) -> Iterator[str]:
    if not outcome.complete:
        yield "the time was up before all blocks were measured: give the gate more with --budget"
    if not outcome.interleaved:
        yield (
            "the baseline was measured in another session: only CPU per row, from which the machine's speed is taken "
            "out, can call this one slower"
        )
    if generator_limits([window for block in outcome.blocks for window in block.windows]):
        yield "the generator could not send faster, so the throughput of the job was not reached"
    if judgement is not None and judgement.latency_alone:
        latency = judgement[Criterion.LATENCY]
        yield f"latency p95 rose by {latency.effect:+.1%}, no operator did for certain: it fails nothing"
    for finding in judgement.findings if judgement else ():
        for doubt in finding.warnings:
            yield f"{finding.criterion}: {doubt}. {ADVICE[doubt]}"
