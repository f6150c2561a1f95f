"""Blocks of windows, as the figures that a test of blocks takes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from profiler.experiment.observation import BlockWindows
from profiler.statistics.confirmation import Block


def throughput_blocks(blocks: Iterable[BlockWindows]) -> list[Block]:
    """Give the rows per second under stress; a stalled window has no log, so its block is one value."""
    return [_throughput(block) for block in blocks]


def _throughput(block: BlockWindows) -> Block:
    values = tuple(window.throughput_per_s for window in block.windows)
    speed_index = tuple(window.speed_index for window in block.windows)
    if values and min(values) <= 0:
        return Block(block.arm, (float(np.mean(values)),), (float(np.mean(speed_index)),))
    return Block(block.arm, values, speed_index)
