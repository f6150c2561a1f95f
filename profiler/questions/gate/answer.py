"""A gate's answer as one value: the verdict, every criterion with what was found, and the blocks that it rests on.

It is what `profile gate --json` writes, and it can be made again from its document (`document.py`): the terminal, the
exports and the history read this value, so that they cannot say different things. The published schema
`gate-1.schema.json` is generated from it. Keys may be added; those that are here stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from profiler.history.migrations import GATE_RESULT
from profiler.questions.gate.criteria import Criterion, CriterionUnit
from profiler.questions.gate.slower_operator import OperatorQuantity
from profiler.questions.gate.verdict import GateVerdict
from profiler.report.published import Portion, Tally, Tasks, Text

Slowdown = Annotated[float, Field(gt=0)]


class GateOutcome(StrEnum):
    """What a gate says of the candidate; or that only a baseline was to be saved, and was."""

    PASS = "pass"  # noqa: S105 - no password
    SLOWER = "slower"
    INCONCLUSIVE = "inconclusive"
    SAVED = "saved"


class Against(StrEnum):
    """The opponent of the candidate."""

    ITSELF = "itself"
    TOPOLOGY = "topology"
    REVISION = "revision"
    STORED = "stored"


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineAnswer:
    """What the candidate was compared with."""

    kind: Against
    name: Text
    interleaved: bool
    """Whether it was measured in turns with the candidate, or beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateLimitsAnswer:
    """What the gate was asked to find and to rule out; slowdowns are relative."""

    max_slowdown: Slowdown
    rule_out: Slowdown
    significance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BlocksOfBoth:
    """Numbers of blocks."""

    baseline: Tally
    candidate: Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionAnswer:
    """One criterion: the candidate against the baseline."""

    criterion: Criterion
    verdict: GateVerdict
    unit: CriterionUnit
    baseline: float | None
    candidate: float | None
    effect: float
    """The relative effect: 0.1 is 10 % more CPU per row or latency, -0.1 is 10 % less throughput."""
    low: float | None
    high: float | None
    p: Portion
    """The one-sided p of no slowdown."""
    adjusted_p: Portion
    """The p after Holm's adjustment over the criteria, and for the looks: significant below 0.05."""
    detectable_effect: float | None
    """The smallest slowdown that this gate calls with 80 % power."""
    mann_whitney_p: float | None
    """The two-sided p of Mann and Whitney; only where the blocks are not normally distributed."""
    blocks: BlocksOfBoth
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorAnswer:
    """What an operator or a source costs per source row in both versions."""

    name: Text
    quantity: OperatorQuantity
    baseline_us: float
    candidate_us: float
    increase_us: float
    effect: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DrillAnswer:
    """The operator that worked longer on purpose, and what was expected of that."""

    operator: Text
    part: float
    share: float
    expected_effect: float
    foreseen_effect: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededAnswer:
    """What it would take to tell what this gate could not."""

    blocks: int
    """The number of blocks of each version."""
    minutes: int | None
    """The minutes that all of the command would take, where its windows take any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateBlockAnswer:
    """What one block saw."""

    version: Literal["baseline", "candidate"]
    cpu_us_per_row: float | None
    throughput_per_s: float | None
    latency_ms: float | None
    speed_index: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateAnswer:
    """What a gate found, and all blocks that led to it."""

    schema: Annotated[str, WithJsonSchema({"const": GATE_RESULT.mark})] = GATE_RESULT.mark
    run: Text
    topology: Text
    engine: Text
    tasks: Tasks
    verdict: GateOutcome
    exit_code: Annotated[int, WithJsonSchema({"enum": [0, 1, 3, 4]})]
    """The exit code: 0 pass or saved, 1 slower, 3 the database did not take the baseline that was to be saved, 4
    inconclusive."""
    why: Text
    baseline: BaselineAnswer
    limits: GateLimitsAnswer
    confidence: float | None
    """The confidence with which each end of an interval holds: 95 % less what an earlier look used up."""
    criteria: tuple[CriterionAnswer, ...]
    slower_operator: str | None
    operators: tuple[OperatorAnswer, ...]
    """The operators, the one that adds the most per row of the source first."""
    drill: DrillAnswer | None
    saved_baseline: str | None
    """The name under which later gates find what was measured."""
    blocks: tuple[GateBlockAnswer, ...]
    complete: bool
    """Whether all blocks were measured; False where the budget ended the gate."""
    environment: Mapping[str, str]
    baseline_environment: Mapping[str, str] | None
    warnings: tuple[str, ...]
    needed: NeededAnswer | None = None
    """What it would take to tell; None where this gate did, or no number of blocks that it can be asked for would."""

    def blocks_of(self, version: Literal["baseline", "candidate"]) -> int:
        """Count the blocks of one version."""
        return sum(each.version == version for each in self.blocks)
