"""What a gate reads off the windows of its blocks, criterion by criterion, for the test of interleaved blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Literal

from profiler.experiment.comparing.blocks import throughput_blocks
from profiler.experiment.observation import BlockWindows, Observation
from profiler.statistics.confirmation import Block

BASELINE, CANDIDATE = 0, 1
"""The arms of a gate."""
QUANTILE = 0.95
"""The quantile of the latency."""


class Criterion(StrEnum):
    """A quantity that a gate looks at."""

    CPU = "cpu-per-row"
    """CPU seconds of the job per source row × speed index: the sharp one."""
    OPERATOR = "operator-cpu"
    """CPU seconds of a single operator, as a part of the job's: sharper still where one operator alone got slower."""
    THROUGHPUT = "throughput"
    """Source rows per second under stress."""
    LATENCY = "latency"
    """Processing latency, p95, at a rate that both arms can follow."""


CriterionUnit = Literal["us", "rows/s", "ms"]
WRITTEN: dict[CriterionUnit, str] = {"us": "µs"}
"""Units that people read otherwise than documents have them."""
UNITS: dict[Criterion, tuple[CriterionUnit, float]] = {
    Criterion.CPU: ("us", 1e6),
    Criterion.OPERATOR: ("us", 1e6),
    Criterion.THROUGHPUT: ("rows/s", 1.0),
    Criterion.LATENCY: ("ms", 1.0),
}
"""The units in which criteria are told, and by what their values are multiplied for that."""


def cpu_blocks(blocks: Sequence[BlockWindows]) -> list[Block]:
    """Give the rows per CPU second; the speed index is a factor of it, so none is left over to normalise by."""
    return [Block(block.arm, _inverse((*block.windows, *block.probe), cpu_s_per_row)) for block in blocks]


def latency_blocks(blocks: Sequence[BlockWindows]) -> list[Block]:
    """Give the inverse of the latency; a block of which it is not known, as no sampled row came out, has no value."""
    return [Block(block.arm, _inverse(block.probe, _latency_ms)) for block in blocks]


def with_values(blocks: Sequence[Block], *, paired: bool) -> list[Block]:
    """Leave out blocks without a value, and what was measured beside them."""
    together = zip(blocks[::2], blocks[1::2], strict=True) if paired else ((block,) for block in blocks)
    return [block for group in together if all(each.values for each in group) for block in group]


BLOCKS: dict[Criterion, Callable[[Sequence[BlockWindows]], list[Block]]] = {
    Criterion.CPU: cpu_blocks,
    Criterion.THROUGHPUT: throughput_blocks,
    Criterion.LATENCY: latency_blocks,
}
"""The functions that read the criteria of the whole job; of all values more is better."""


def cpu_s_per_row(window: Observation) -> float:
    """Give the CPU seconds per source row as they would be at normal speed; NaN where no row came through."""
    rows = window.source_rows
    return window.cpu_s * window.speed_index / rows if rows > 0 else math.nan


def _latency_ms(window: Observation) -> float:
    return window.processing_ms.quantile(QUANTILE)


def _inverse(windows: Sequence[Observation], cost: Callable[[Observation], float]) -> tuple[float, ...]:
    costs = [cost(window) for window in windows]
    return tuple(1 / each for each in costs if math.isfinite(each) and each > 0)
