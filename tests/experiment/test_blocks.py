"""Blocks of windows as the figures of a test."""

from __future__ import annotations

import pytest

from profiler.experiment.blocks import throughput_blocks
from profiler.experiment.observation import BlockWindows
from profiler.statistics.confirmation import confirm, order
from profiler.statistics.result import Verdict
from tests.scenarios import window


def test_a_window_in_which_the_job_stalled_does_not_make_its_block_worthless() -> None:
    """Nothing came out of one of six windows: the block counts with its mean, and the arms are still told apart."""
    levels = (1000.0, 2000.0)
    steady = [
        BlockWindows(arm, tuple(window(levels[arm] * (1 + 0.01 * (number % 3))) for number in range(6)))
        for arm in order(4)
    ]
    stalled = BlockWindows(0, (window(0.0), *steady[3].windows[1:]))
    found = confirm(throughput_blocks([*steady[:3], stalled, *steady[4:]]))
    assert found.verdict is Verdict.INCREASED
    assert throughput_blocks([stalled])[0].values == pytest.approx((1000 * (1.01 + 1.02 + 1.0 + 1.01 + 1.02) / 6,))
