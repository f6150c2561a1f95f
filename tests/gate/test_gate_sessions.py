"""A gate that goes on after an interruption: only what is missing is measured, at the same rates."""

from __future__ import annotations

import pytest

from profiler.engines.simulated.noise import Preset
from profiler.experiment.events import BlockMeasured, BlockStarted, Phase, WindowSeen
from profiler.questions.gate.experiment import DESIGN
from profiler.questions.gate.verdict import GateLimits
from tests.gate.test_gate_experiment import Watched, job

UNDECIDED = {"preset": Preset.SHARED, "limits": GateLimits(0.02, 0.03)}


def told(gate):
    return [event for event in gate.events if isinstance(event, BlockMeasured)]


def offered(gate, phase):
    return {
        event.observation.offered_per_s
        for event in gate.events
        if isinstance(event, WindowSeen) and event.phase is phase
    }


def test_every_block_that_counts_is_told_when_it_is_measured():
    """With its number, from 1, and what a later session needs."""
    gate = Watched(job(0.51), **UNDECIDED)
    assert [event.number for event in told(gate)] == list(range(1, 2 * DESIGN.blocks + 1))
    assert tuple(event.block for event in told(gate)) == gate.outcome.blocks
    assert {event.expected_per_s for event in told(gate)} == {gate.outcome.throughput_per_s}
    for before, after in zip(gate.events, gate.events[1:], strict=False):
        assert not (isinstance(before, BlockStarted) and isinstance(after, BlockMeasured))


@pytest.mark.parametrize("done", [1, 4, 5, 15])
def test_only_the_missing_blocks_are_measured(done):
    """Also where the interruption came between the two blocks of a turn."""
    whole = Watched(job(0.51), **UNDECIDED)
    past, rate = whole.outcome.blocks[:done], whole.outcome.throughput_per_s
    gate = Watched(job(0.51), seed=2, past=past, past_expected_per_s=rate, **UNDECIDED)
    assert gate.outcome.blocks[:done] == past
    assert [event.number for event in told(gate)] == list(range(done + 1, 2 * DESIGN.blocks + 1))
    assert [block.arm for block in gate.outcome.blocks] == [block.arm for block in whole.outcome.blocks]
    assert gate.blocks[0].index == done
    assert gate.blocks[0].planned == 2 * DESIGN.blocks
    assert gate.outcome.complete


def test_the_same_rates_are_offered_as_before():
    """The engine is loaded again, but what that says of its throughput does not change the question."""
    whole = Watched(job(0.51), **UNDECIDED)
    past, rate = whole.outcome.blocks[:4], whole.outcome.throughput_per_s
    gate = Watched(job(0.51), seed=2, past=past, past_expected_per_s=rate, **UNDECIDED)
    assert len(gate.deployed) == 1 + 12
    for phase in (Phase.BLOCK, Phase.PROBE):
        assert offered(gate, phase) == offered(whole, phase)
    assert gate.outcome.throughput_per_s == rate


def test_the_early_look_counts_blocks_of_both_sessions():
    """What is clear after half of them ends there."""
    whole = Watched(job(0.7))
    gate = Watched(job(0.7), past=whole.outcome.blocks[:5], past_expected_per_s=whole.outcome.throughput_per_s)
    assert len(gate.outcome.blocks) == DESIGN.blocks
    assert len(told(gate)) == DESIGN.blocks - 5
