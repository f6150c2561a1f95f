"""Blocks: short deployments whose windows are compared, one after the other or several at the same time."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial

import numpy as np

from profiler.experiment.comparing.side_by_side import observed_together
from profiler.experiment.engine import Deployment, Engine
from profiler.experiment.events import BlockMeasured, BlockStarted, Listener, Phase, WindowSeen, ignore
from profiler.experiment.measure import STRESS, observed
from profiler.experiment.observation import BlockWindows, Detail, Observation
from profiler.experiment.window_plan import WindowPlan
from profiler.job.configuration import Configuration
from profiler.job.topology import Topology
from profiler.statistics.confirmation import Block

BLOCK_PROBE_LOAD = 0.6
"""Part of the expected throughput that a block's latency probe offers: the same rate for all arms, which one that is a
third slower still follows."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One side of a confirmation, a gate or a comparison: what to deploy, and the throughput that is expected of it."""

    configuration: Configuration
    expected_per_s: float
    fused: bool = False
    topology: Topology | None = None
    """The arm's topology, where it is another one than the other arms'."""
    name: str = ""
    """The arm's name, for those who watch."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """The arms that are measured in blocks, and how.

    Its methods yield every block when it ends. An order gives the arms by their positions; `before` blocks were
    measured already, and at the most `planned` will have been in the end, for those who watch.
    """

    engine: Engine
    topology: Topology
    arms: Sequence[Arm]
    design: WindowPlan
    report: Listener = ignore
    detail: Detail = Detail.LIGHT

    def in_turn(self, order: Sequence[int], *, before: int = 0, planned: int | None = None) -> Iterator[BlockWindows]:
        """Measure a short block of one arm after the other."""
        for index, number in enumerate(order, start=before):
            self.begun(number, index, planned or before + len(order))
            with closing(self.deployed(number)) as deployment:
                block = self.of(number, deployment, self.design.block_warm_up)
            yield block

    def side_by_side(
        self, order: Sequence[int], *, before: int = 0, planned: int | None = None
    ) -> Iterator[BlockWindows]:
        """Measure a short block of each arm at the same time, deployed in this order; yield all when they have ended.

        They are offered the same, unless an arm names its rate. Where CPU bounds them, each has its part of what was
        seen of one alone, so that their probe's rate is so much less.
        """
        chosen = [self.arms[number] for number in order]
        configuration, expected_per_s = chosen[0].configuration, min(arm.expected_per_s for arm in chosen)
        name = " and ".join(dict.fromkeys(arm.name for arm in chosen))
        together = len(set(order))
        self.report(BlockStarted(before, planned or before + len(order), configuration, name, together=together))
        with ExitStack() as opened:
            deployments = [opened.enter_context(closing(self.deployed(number))) for number in order]

            def watched(
                rates_per_s: Sequence[float], windows: int, phase: Phase
            ) -> tuple[tuple[Observation, ...], ...]:
                index = itertools.count(1)
                return observed_together(
                    deployments,
                    rates_per_s,
                    windows,
                    lambda window: self.report(
                        WindowSeen(phase, min(next(index), windows), windows, configuration, window)
                    ),
                )

            rates_per_s = [_stress(arm, expected_per_s) for arm in chosen]
            stressed = watched(rates_per_s, self.design.block_warm_up + self.design.block, Phase.BLOCK)
            probe_per_s = BLOCK_PROBE_LOAD * expected_per_s / len(chosen)
            probed = watched([probe_per_s] * len(chosen), self.design.block_probe, Phase.PROBE)
        for number, windows, probe in zip(order, stressed, probed, strict=True):
            yield BlockWindows(number, windows[self.design.block_warm_up :], probe)

    def begun(self, number: int, index: int, planned: int) -> None:
        """Tell that a block of an arm begins."""
        arm = self.arms[number]
        self.report(BlockStarted(index, planned, arm.configuration, arm.name))

    def deployed(self, number: int) -> Deployment:
        """Deploy an arm."""
        arm = self.arms[number]
        return self.engine.deploy(arm.topology or self.topology, arm.configuration, self.detail, fused=arm.fused)

    def of(self, number: int, deployment: Deployment, warm_up: int) -> BlockWindows:
        """Observe a block of an arm that is deployed; its first windows, those of its warm-up, do not count."""
        arm = self.arms[number]
        watched = partial(observed, deployment, configuration=arm.configuration, report=self.report)
        stressed = watched(_stress(arm, arm.expected_per_s), warm_up + self.design.block, Phase.BLOCK)
        probed = watched(BLOCK_PROBE_LOAD * arm.expected_per_s, self.design.block_probe, Phase.PROBE)
        return BlockWindows(number, stressed[warm_up:], probed)

    def counted(self, blocks: Iterable[BlockWindows], *, before: int) -> Iterator[BlockWindows]:
        """Tell of every block that it counts, when it ends; `before` did already."""
        for number, block in enumerate(blocks, start=before + 1):
            expected_per_s = self.arms[block.arm].expected_per_s
            self.report(BlockMeasured(number, block, expected_per_s, self.engine.platform.loop_s))
            yield block


def _stress(arm: Arm, expected_per_s: float) -> float:
    """Return the rate of an arm's block: its own where it has one, else one that is more than it can do."""
    return arm.configuration.offered_per_s or STRESS * expected_per_s


def throughput_blocks(blocks: Iterable[BlockWindows]) -> list[Block]:
    """Give the rows per second under stress; a stalled window has no log, so its block is one value."""
    return [_throughput(block) for block in blocks]


def _throughput(block: BlockWindows) -> Block:
    values = tuple(window.throughput_per_s for window in block.windows)
    speed_index = tuple(window.machine_speed for window in block.windows)
    if values and min(values) <= 0:
        return Block(block.arm, (float(np.mean(values)),), (float(np.mean(speed_index)),))
    return Block(block.arm, values, speed_index)
