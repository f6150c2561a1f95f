"""Confirming an answer: interleaved, with early looks that drop what is decided."""

from __future__ import annotations

import numpy as np
import pytest

from profiler.experiment.comparing.blocks import Arm
from profiler.experiment.comparing.confrontation import confront
from profiler.experiment.engine import Platform
from profiler.experiment.events import BlockStarted
from profiler.experiment.window_plan import WindowPlan
from profiler.job.configuration import Configuration
from profiler.job.topology import Operator, Source, Topology
from profiler.statistics.result import Verdict
from tests.scenarios import window

TOPOLOGY = Topology.chain("job", Source("in"), Operator("work"))


class NoisyEngine:
    """An engine on which a task of 'work' does 100 rows/s, with log-normal noise."""

    name = "noisy"
    window_s = 3.0
    platform = Platform(slots=64, cores=2)

    def __init__(self, noise, seed=1):
        self.noise = noise
        self.random = np.random.default_rng(seed)

    def deploy(self, topology, configuration, detail, *, fused=False):
        self.capacity = 100 * configuration["work"]
        return self

    def observe(self, rate_per_s, windows):
        for _ in range(windows):
            yield window(min(rate_per_s, self.capacity * float(np.exp(self.random.normal(0, self.noise)))))

    def close(self):
        pass


def arm(tasks):
    return Arm(Configuration.of({"in": 1, "work": tasks}), 1000.0 * tasks)


def measured(arms, *, noise, blocks=6, seed=1, rivals=()):
    started = []

    def report(event):
        if isinstance(event, BlockStarted):
            started.append(event)

    engine = NoisyEngine(noise, seed)
    found = confront(
        engine,
        TOPOLOGY,
        [arm(tasks) for tasks in arms],
        WindowPlan(blocks=blocks),
        alpha=0.05,
        rivals=rivals,
        report=report,
    )
    return found, [event.configuration["work"] for event in started], started


def test_what_is_clear_is_decided_early():
    """Twice as fast shows after three blocks each: the other three are not measured."""
    found, order, _ = measured([2, 1], noise=0.05)
    assert order == [2, 1, 1, 2, 2, 1]
    assert found.against[1].verdict is Verdict.INCREASED


def test_what_is_not_clear_gets_all_its_blocks():
    """Arms that are alike take every block, mirrored throughout."""
    found, order, started = measured([2, 2], noise=0.05)
    assert len(order) == 12
    assert found.against[1].verdict not in (Verdict.INCREASED, Verdict.DECREASED)
    assert [block.arm for block in found.blocks] == [0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0]
    assert [event.index for event in started] == list(range(12))
    assert started[0].planned == started[-1].planned == 12


def test_only_the_undecided_arm_goes_on():
    """The start is far behind and dropped; the runner-up is as fast as the answer and measured to the end."""
    found, order, started = measured([4, 1, 4], noise=0.05)
    assert order.count(1) == 3
    assert order.count(4) == 12
    assert found.against[1].verdict is Verdict.INCREASED
    assert found.against[1].n_reference == 3
    assert found.against[2].n_reference == 6
    assert started[-1].index + 1 == started[-1].planned == 15


def test_a_rival_goes_on_only_where_it_may_be_better():
    """A runner-up that looks no better at an early look is not worth more blocks; one that looks faster is."""
    _, slower, _ = measured([20, 1, 19], noise=0.05, rivals=(2,))
    assert (slower.count(20), slower.count(1), slower.count(19)) == (3, 3, 3)
    found, faster, _ = measured([19, 1, 20], noise=0.05, rivals=(2,))
    assert (faster.count(19), faster.count(1), faster.count(20)) == (6, 3, 6)
    assert found.against[2].effect < 0
    equal = [len(measured([20, 1, 20], noise=0.05, rivals=(2,), seed=seed)[1]) for seed in range(100, 150)]
    assert sum(blocks == 9 for blocks in equal) >= 35


def test_what_is_clear_after_two_thirds_is_decided_then():
    """Twice as fast amid much noise: three blocks each are too few, four are enough in most cases."""
    taken = [len(measured([2, 1], noise=0.25, seed=seed)[1]) for seed in range(40)]
    assert set(taken) <= {6, 8, 12}
    assert taken.count(8) > taken.count(12)


@pytest.mark.long
def test_looks_raise_no_more_false_alarms_than_one():
    """Of 400 confirmations of the same thing about a twentieth may say changed (here: at most 7.5 %)."""
    changed = sum(
        measured([1, 1], noise=0.1, seed=seed)[0].against[1].verdict in (Verdict.INCREASED, Verdict.DECREASED)
        for seed in range(400)
    )
    assert changed <= 30
