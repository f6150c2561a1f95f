"""Blocks: one arm after the other or several at the same time, and their windows as the figures of a test."""

from __future__ import annotations

import pytest

from profiler.experiment.comparing.blocks import BLOCK_PROBE_LOAD, Arm, Blocks, throughput_blocks
from profiler.experiment.events import BlockStarted
from profiler.experiment.measure import STRESS
from profiler.experiment.observation import BlockWindows, Detail
from profiler.experiment.window_plan import WindowPlan
from profiler.job.topology import Cost, Operator, Source, Topology
from profiler.statistics.confirmation import confirm, order
from profiler.statistics.result import Verdict
from tests.experiment.scripted import ONE_EACH, TOPOLOGY, ScriptedEngine
from tests.scenarios import window


def test_blocks_follow_the_order_and_drop_their_warm_up():
    """Each block is a deployment of its own; its first windows do not count."""
    engine = ScriptedEngine(lambda index: 500.0 if index < 2 else 1000.0)
    arms = [Arm(ONE_EACH, 1000.0), Arm(ONE_EACH.plus({"work": 1}), 1000.0)]
    blocks = list(Blocks(engine, TOPOLOGY, arms, WindowPlan(block=4, block_warm_up=2)).in_turn((0, 1, 1, 0)))
    assert [block.arm for block in blocks] == [0, 1, 1, 0]
    assert all([window.throughput_per_s for window in block.windows] == [1000.0] * 4 for block in blocks)
    assert engine.deployed == 4
    assert engine.open == 0


def test_blocks_are_given_whole_with_a_probe_at_their_end():
    """Every arm may have a topology of its own; the probe's rate is one that the expected throughput allows."""
    other = Topology.chain("other", Source("in"), Operator("work", cost=Cost(cpu_ms=2)))
    deployed, told = [], []

    class Recording(ScriptedEngine):
        def deploy(self, topology, configuration, detail, *, fused=False):
            deployed.append((topology.name, detail))
            return super().deploy(topology, configuration, detail, fused=fused)

    engine = Recording()
    arms = [Arm(ONE_EACH, 1000.0, name="baseline"), Arm(ONE_EACH, 1000.0, topology=other, name="candidate")]
    design = WindowPlan(block=2, block_warm_up=1, block_probe=1)
    blocks = list(Blocks(engine, TOPOLOGY, arms, design, told.append, Detail.APART).in_turn((0, 1)))
    assert [(block.arm, len(block.windows), len(block.probe)) for block in blocks] == [(0, 2, 1), (1, 2, 1)]
    assert deployed == [("job", Detail.APART), ("other", Detail.APART)]
    assert engine.rates == [STRESS * 1000, BLOCK_PROBE_LOAD * 1000] * 2
    assert blocks[0].probe[0].throughput_per_s == pytest.approx(600)
    assert [event.name for event in told if isinstance(event, BlockStarted)] == ["baseline", "candidate"]
    assert engine.open == 0


def test_an_interrupted_block_closes_its_deployment():
    """Whoever stops asking leaves nothing running."""
    engine = ScriptedEngine()
    blocks = Blocks(engine, TOPOLOGY, [Arm(ONE_EACH, 1000.0)], WindowPlan()).in_turn((0, 0))
    next(blocks)
    blocks.close()
    assert engine.open == 0


class Several(ScriptedEngine):
    """An engine whose deployments are told apart: how each was deployed, and what it was offered."""

    def __init__(self):
        super().__init__()
        self.deployments = []

    def deploy(self, topology, configuration, detail, *, fused=False):
        deployment = ScriptedEngine().deploy(topology, configuration, detail)
        deployment.fused = fused
        self.deployments.append(deployment)
        return deployment


@pytest.mark.parametrize("measured", [Blocks.in_turn, Blocks.side_by_side])
def test_an_arm_is_deployed_and_loaded_as_it_says(measured):
    """A job as written has no extra shuffles, and one at a limited rate is offered no more: in turn or together."""
    engine = Several()
    arms = [Arm(ONE_EACH, 1000.0, fused=True), Arm(ONE_EACH.throttled(400.0), 1000.0)]
    blocks = list(measured(Blocks(engine, TOPOLOGY, arms, WindowPlan(block=2, block_warm_up=0)), (0, 1)))
    assert [deployment.fused for deployment in engine.deployments] == [True, False]
    assert [deployment.rates for deployment in engine.deployments] == [[STRESS * 1000], [400]]
    assert [[window.throughput_per_s for window in block.windows] for block in blocks] == [[1000.0] * 2, [400.0] * 2]


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
