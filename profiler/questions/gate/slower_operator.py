"""Which operator got slower: what each one costs per source row, in both arms of a gate.

The cost is its CPU time × speed index, or its working time, which counts waiting too, per row that enters the topology.
So the costs of all operators add up to the job's, and the one that grew by the most *seconds* explains the most of a
slowdown. Relative growth would name operators that cost next to nothing: their ratios are noise. A block gives one
value per operator, the sum over its windows, so that windows in which an operator did nothing do no harm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from profiler.experiment.observation import BlockWindows
from profiler.questions.gate.criteria import BASELINE, CANDIDATE
from profiler.statistics.confirmation import IN_TURNS, ArmDifference, Block, BlockLayout, arm_difference
from profiler.statistics.student import relative


class OperatorQuantity(StrEnum):
    """The quantity of an operator that is compared."""

    CPU = "cpu"
    BUSY = "busy"
    """Working time, waiting inside the operator included."""


@dataclass(frozen=True, slots=True)
class OperatorChange:
    """The cost of an operator or source per source row in both arms."""

    name: str
    quantity: OperatorQuantity
    baseline_s: float
    candidate_s: float
    effect: float
    """The relative effect; infinite for an operator that the baseline does not have."""
    low: float
    high: float
    """The upper end of the interval; each end holds with the confidence of the judgement."""

    @property
    def increase_s(self) -> float:
        """Seconds per row that the candidate spends more."""
        return self.candidate_s - self.baseline_s

    @property
    def is_gone(self) -> bool:
        """The candidate does not have it, or it costs nothing there."""
        return self.candidate_s == 0

    @property
    def is_new(self) -> bool:
        """The baseline does not have it, or it cost nothing there."""
        return self.baseline_s == 0


def is_slower_for_certain(
    blocks: Sequence[BlockWindows],
    quantity: OperatorQuantity,
    alpha: float,
    layout: BlockLayout = IN_TURNS,
    *,
    relevant: float,
) -> bool:
    """Tell whether an operator takes longer, by `relevant` at the least, whichever it is of them (Bonferroni).

    A new one does where it takes so much more of the job than operators that are gone did.
    """
    names = {name for block in blocks for window in block.windows for name in window.operators}
    changes = operator_changes(blocks, quantity, alpha / max(1, len(names)), layout)
    all_s = sum(each.baseline_s for each in changes)
    new_s = sum(each.increase_s for each in changes if each.is_new or each.is_gone)
    return new_s > relevant * all_s or any(
        each.low > 0 and each.effect >= relevant for each in changes if not each.is_new
    )


def operator_changes(
    blocks: Sequence[BlockWindows], quantity: OperatorQuantity, alpha: float, layout: BlockLayout = IN_TURNS
) -> tuple[OperatorChange, ...]:
    """Compare every operator; the one that adds the most seconds per row comes first."""
    found = operator_differences(blocks, quantity, layout)
    changes = [
        _untested(blocks, name, quantity) if each is None else _change(name, quantity, each, alpha)
        for name, each in found.items()
    ]
    return tuple(sorted(changes, key=lambda change: change.increase_s, reverse=True))


def operator_differences(
    blocks: Sequence[BlockWindows], quantity: OperatorQuantity, layout: BlockLayout = IN_TURNS
) -> dict[str, ArmDifference | None]:
    """Estimate how the cost of every operator differs; None where only one arm has it, or a block of it no cost."""
    names = dict.fromkeys(name for block in blocks for window in block.windows for name in window.operators)
    return {
        name: arm_difference([Block(block.arm, (_cost_s(block, name, quantity),)) for block in blocks], layout=layout)
        for name in names
    }


def _change(name: str, quantity: OperatorQuantity, found: ArmDifference, alpha: float) -> OperatorChange:
    low, high = found.found.interval(2 * alpha)
    baseline_s, effect = math.exp(found.reference_log), relative(found.found.difference)
    return OperatorChange(name, quantity, baseline_s, baseline_s * (1 + effect), effect, low, high)


def _untested(blocks: Sequence[BlockWindows], name: str, quantity: OperatorQuantity) -> OperatorChange:
    baseline_s, candidate_s = (
        _mean([_cost_s(block, name, quantity) for block in blocks if block.arm == arm]) for arm in (BASELINE, CANDIDATE)
    )
    effect = candidate_s / baseline_s - 1 if baseline_s > 0 else math.inf
    return OperatorChange(name, quantity, baseline_s, candidate_s, effect, -1.0, math.inf)


def _cost_s(block: BlockWindows, name: str, quantity: OperatorQuantity) -> float:
    windows = (*block.windows, *block.probe) if quantity is OperatorQuantity.CPU else block.windows
    cost = rows = 0.0
    for window in windows:
        rows += window.source_rows
        seen = window.operators.get(name)
        if seen is not None:
            cost += seen.cpu_s * window.speed_index if quantity is OperatorQuantity.CPU else seen.busy_s
    return cost / rows if rows > 0 else 0.0


def _mean(costs: Sequence[float]) -> float:
    return sum(costs) / len(costs) if costs else 0.0
