"""What the defences against a noisy machine remove, from confirmations of a configuration against itself; pure.

The truth is known, no difference, so an estimate's mean square is its variance:

- interleaving: the difference of arms ABBA… against that of the same blocks' second and first half, as if all of one
  arm had been measured before the other;
- speed index: log throughput as it was, against the same normalised (profiler/statistics/control_variate.py);
- CPU time per row × speed index: its variation over windows, against the throughput's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from profiler.experiment.observation import Observation
from profiler.statistics.confirmation import Block
from profiler.statistics.control_variate import normalised, speed_slope
from profiler.statistics.interval import mean_interval
from profiler.statistics.result import Comparison
from scripts.benches.rows import Row, row

Logs = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Confirmed:
    """One confirmation of a configuration against itself: what was said, and the windows of its blocks that counted."""

    comparison: Comparison
    blocks: tuple[Block, ...]
    cpu_s_per_row: tuple[tuple[float, ...], ...]
    """By block."""

    @classmethod
    def of(cls, comparison: Comparison, blocks: Sequence[Block], seen: Sequence[Sequence[Observation]]) -> Confirmed:
        """Join the blocks with all their windows, of which the last ones counted."""
        counted = [windows[-len(block.values) :] for block, windows in zip(blocks, seen, strict=True)]
        return cls(comparison, tuple(blocks), tuple(tuple(_cpu_s_per_row(each) for each in block) for block in counted))


def defence_rows(confirmations: Sequence[Confirmed]) -> Iterator[Row]:
    """Yield what each defence removes, and how much varies in what it works on; stalled windows have no logs."""
    confirmations = [each for each in confirmations if all(min(block.values) > 0 for block in each.blocks)]
    if not confirmations:
        return
    apart = [_halves(_raw(each)) for each in confirmations]
    together = [_arms(each, _raw(each)) for each in confirmations]
    indexed = [_arms(each, _normalised(each)) for each in confirmations]
    yield _removed(
        "variance of the difference that interleaving removes", apart, together, "first one arm, then the other"
    )
    yield _removed("variance of the difference that the speed index removes", together, indexed, "without it")
    windows = [_spread(_raw(each)) for each in confirmations]
    steadied = [_spread(_normalised(each)) for each in confirmations]
    cpu = [_spread(_cpu(each, indexed=False)) for each in confirmations]
    cpu_indexed = [_spread(_cpu(each, indexed=True)) for each in confirmations]
    yield _removed("variance of log throughput that the speed index removes", windows, steadied, "without it")
    yield _removed("variance that CPU per row × speed index removes", windows, cpu_indexed, "throughput")
    for quantity, values in (
        ("throughput", windows),
        ("throughput, normalised by the speed index", steadied),
        ("CPU per row", cpu),
        ("CPU per row × speed index", cpu_indexed),
    ):
        low, high = mean_interval(values)
        mean = float(np.mean(values))
        yield row(f"variation of windows: {quantity}", mean, better="lower", n=len(values), low=low, high=high)


def removed_part(without: Sequence[float], with_it: Sequence[float]) -> float:
    """Return the part of the mean square that a defence removes; negative where it adds."""
    return float(1 - np.mean(np.square(with_it)) / np.mean(np.square(without)))


def _removed(quantity: str, without: Sequence[float], with_it: Sequence[float], against: str) -> Row:
    ends: tuple[float | None, float | None] = (None, None)
    if len(without) > 1:

        def part(before: Logs, after: Logs, axis: int = -1) -> Logs:
            return 1 - np.asarray(np.mean(after**2, axis=axis) / np.mean(before**2, axis=axis))

        pairs = (np.asarray(without), np.asarray(with_it))
        rng = np.random.default_rng(1)
        found = stats.bootstrap(pairs, part, n_resamples=999, method="percentile", paired=True, rng=rng)
        ends = float(found.confidence_interval.low), float(found.confidence_interval.high)
    return row(quantity, removed_part(without, with_it), against=against, n=len(without), low=ends[0], high=ends[1])


def _raw(confirmed: Confirmed) -> list[Logs]:
    return [np.log(block.values) for block in confirmed.blocks]


def _normalised(confirmed: Confirmed) -> list[Logs]:
    slope = speed_slope(confirmed.blocks)
    return [np.log(normalised(block, slope)) for block in confirmed.blocks]


def _cpu(confirmed: Confirmed, *, indexed: bool) -> list[Logs]:
    slope = 1.0 if indexed else 0.0
    return [
        np.log(costs) + slope * np.log(block.speed_index)
        for costs, block in zip(confirmed.cpu_s_per_row, confirmed.blocks, strict=True)
    ]


def _halves(blocks: Sequence[Logs]) -> float:
    means = [float(block.mean()) for block in blocks]
    half = len(means) // 2
    return float(np.mean(means[half:]) - np.mean(means[:half]))


def _arms(confirmed: Confirmed, blocks: Sequence[Logs]) -> float:
    means = np.array([block.mean() for block in blocks])
    arms = np.array([block.arm for block in confirmed.blocks])
    return float(means[arms == 1].mean() - means[arms == 0].mean())


def _spread(blocks: Sequence[Logs]) -> float:
    """Return the standard deviation of all windows' logs: about their coefficient of variation."""
    return float(np.std(np.concatenate(blocks), ddof=1))


def _cpu_s_per_row(window: Observation) -> float:
    return window.cpu_s / window.source_rows if window.source_rows > 0 else math.nan
