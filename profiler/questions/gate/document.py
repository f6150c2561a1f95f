"""The `--json` document of a gate: one object, its schema published beside this file and versioned.

All other reports of a gate are made from this document, so that they cannot say different things.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from typing import Any

from profiler.errors import ProfileError
from profiler.experiment.observation import BlockWindows
from profiler.history.migrations import GATE_RESULT
from profiler.job.configuration import Configuration
from profiler.questions.gate.criteria import BASELINE, QUANTILE, Criterion, cpu_s_per_row
from profiler.questions.gate.drill import Drilled
from profiler.questions.gate.experiment import GateResult
from profiler.questions.gate.slower_operator import OperatorChange
from profiler.questions.gate.verdict import CriterionFinding, GateLimits, GateVerdict, Judgement
from profiler.questions.gate.words import why, why_saved
from profiler.report.doubts import ADVICE

SAVED = "saved"
"""The verdict on a job of which only a baseline was to be saved."""
EXIT_CODES = {str(GateVerdict.PASS): 0, str(GateVerdict.SLOWER): 1, str(GateVerdict.INCONCLUSIVE): 4, SAVED: 0}
_UNITS = {
    Criterion.CPU: ("us", 1e6),
    Criterion.OPERATOR: ("us", 1e6),
    Criterion.THROUGHPUT: ("rows/s", 1.0),
    Criterion.LATENCY: ("ms", 1.0),
}


class Against(StrEnum):
    """The opponent of the candidate."""

    ITSELF = "itself"
    TOPOLOGY = "topology"
    REVISION = "revision"
    STORED = "stored"


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

    @property
    def differences(self) -> dict[str, tuple[str, str]]:
        """What is different where the stored baseline was measured: there, and here."""
        there, here = self.baseline_environment, self.environment
        if there is None:
            return {}
        keys = dict.fromkeys((*there, *here))
        values = {key: (there.get(key, "unknown"), here.get(key, "unknown")) for key in keys}
        return {key: both for key, both in values.items() if both[0] != both[1]}


def gate_document(case: GateCase, outcome: GateResult, *, run: str) -> dict[str, Any]:
    """Write a gate as one document; `run` is its name in the history."""
    judgement = outcome.judgement
    slower = judgement.slower_operator if judgement else None
    verdict = _verdict(case, outcome)
    return {
        "schema": GATE_RESULT.mark,
        "run": run,
        "topology": case.topology,
        "engine": case.engine,
        "tasks": case.configuration.tasks,
        "verdict": verdict,
        "exit_code": _exit_code(case, verdict),
        "why": why_saved(case.saved_blocks, judgement) if verdict == SAVED else _why(case, outcome),
        "baseline": {"kind": str(case.against), "name": case.baseline, "interleaved": outcome.interleaved},
        "limits": {
            "max_slowdown": case.limits.max_slowdown,
            "rule_out": case.limits.rule_out,
            "significance": case.limits.alpha,
        },
        "confidence": judgement.confidence if judgement else None,
        "criteria": [_criterion(finding) for finding in judgement.findings] if judgement else [],
        "slower_operator": slower.name if slower else None,
        "operators": [_operator(change) for change in judgement.operators] if judgement else [],
        "drill": _drill(outcome.drilled) if outcome.drilled else None,
        "saved_baseline": case.saved_baseline,
        "blocks": [_block(block) for block in outcome.blocks],
        "complete": outcome.complete,
        "environment": dict(case.environment),
        "baseline_environment": None if case.baseline_environment is None else dict(case.baseline_environment),
        "warnings": [*case.warnings, *_warnings(outcome, judgement)],
    }


def _verdict(case: GateCase, outcome: GateResult) -> str:
    if not case.only_saves:
        return str(outcome.verdict)
    return str(GateVerdict.INCONCLUSIVE) if case.saved_baseline is None else SAVED


def _exit_code(case: GateCase, verdict: str) -> int:
    """Settle the exit code: a verdict stands without its baseline; one that was all that was asked for is missing."""
    return ProfileError.exit_code if case.only_saves and case.saving_failed else EXIT_CODES[verdict]


def _why(case: GateCase, outcome: GateResult) -> str:
    if case.only_saves:
        return "there is no new baseline"
    return why(outcome, case.limits, case.differences)


def gate_schema() -> dict[str, Any]:
    """Return the published JSON schema of the document."""
    text = files("profiler.questions.gate").joinpath("gate-1.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _criterion(finding: CriterionFinding) -> dict[str, Any]:
    unit, scale = _UNITS[finding.criterion]
    return {
        "criterion": str(finding.criterion),
        "verdict": str(finding.verdict),
        "unit": unit,
        "baseline": _figure(scale * finding.baseline),
        "candidate": _figure(scale * finding.candidate),
        "effect": finding.effect,
        "low": _figure(finding.low),
        "high": _figure(finding.high),
        "p": finding.p,
        "adjusted_p": finding.adjusted_p,
        "detectable_effect": _figure(finding.detectable_effect),
        "mann_whitney_p": finding.mann_whitney_p,
        "blocks": {"baseline": finding.n_baseline, "candidate": finding.n_candidate},
        "warnings": [str(doubt) for doubt in finding.warnings],
    }


def _operator(change: OperatorChange) -> dict[str, Any]:
    return {
        "name": change.name,
        "quantity": str(change.quantity),
        "baseline_us": 1e6 * change.baseline_s,
        "candidate_us": 1e6 * change.candidate_s,
        "increase_us": 1e6 * change.increase_s,
        "effect": _figure(change.effect),
        "low": _figure(change.low),
        "high": _figure(change.high),
    }


def _drill(drilled: Drilled) -> dict[str, Any]:
    return {
        "operator": drilled.operator,
        "part": drilled.part,
        "share": drilled.share,
        "expected_effect": drilled.expected_effect,
        "foreseen_effect": drilled.foreseen_effect,
    }


def _block(block: BlockWindows) -> dict[str, Any]:
    latencies = [window.processing_ms.quantile(QUANTILE) for window in block.probe]
    return {
        "version": "baseline" if block.arm == BASELINE else "candidate",
        "cpu_us_per_row": _mean([1e6 * cpu_s_per_row(window) for window in (*block.windows, *block.probe)]),
        "throughput_per_s": _mean([window.throughput_per_s for window in block.windows]),
        "latency_ms": _mean(latencies),
        "speed_index": _mean([window.speed_index for window in block.windows]),
    }


def _mean(values: Sequence[float]) -> float | None:
    known = [value for value in values if math.isfinite(value)]
    return sum(known) / len(known) if known else None


def _figure(value: float) -> float | None:
    """Leave out what JSON has no number for."""
    return value if math.isfinite(value) else None


def _warnings(outcome: GateResult, judgement: Judgement | None) -> list[str]:
    warnings = []
    if not outcome.complete:
        warnings.append("the time was up before all blocks were measured: give the gate more with --budget")
    if not outcome.interleaved:
        warnings.append(
            "the baseline was measured in another session: only CPU per row, from which the machine's speed is taken "
            "out, can call this one slower"
        )
    if any(window.generator_limited for block in outcome.blocks for window in block.windows):
        warnings.append("the generator could not send faster, so the throughput of the job was not reached")
    for finding in judgement.findings if judgement else ():
        warnings += [f"{finding.criterion}: {doubt}. {ADVICE[doubt]}" for doubt in finding.warnings]
    return warnings
