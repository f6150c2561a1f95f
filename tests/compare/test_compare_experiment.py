"""Variants head to head on the simulated engine: in turn, mirrored, two looks, an end in time, an interruption."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.noise import Preset
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.experiment.comparing.blocks import BLOCK_PROBE_LOAD
from profiler.experiment.events import BlockMeasured, BlockStarted, LoadingStarted, Phase, WindowSeen
from profiler.experiment.measure import STRESS
from profiler.job.configuration import Configuration
from profiler.job.topology import Cost, Operator, Source, Topology
from profiler.questions.compare.experiment import DESIGN, HeadToHead, PastBlock, Variant
from profiler.questions.compare.ranking import RankVerdict


def variant(name, work_ms, *, source="rows", tasks=1, expected_per_s=1000.0, **more):
    """A job of its own: another name, another source."""
    topology = Topology.chain(name, Source(source), Operator(f"{name}-work", cost=Cost(cpu_ms=work_ms)))
    return Variant(name, topology, Configuration.of({source: 1, f"{name}-work": tasks}), expected_per_s, **more)


SLOW, FAST = variant("slow", 1.0, source="lines"), variant("fast", 0.7)


class Watched:
    """A comparison with what it told and deployed."""

    def __init__(self, *variants, preset=Preset.QUIET, seed=1, kind=SimulatedEngine, **more):
        self.engine = kind(SimulatedPlatform(cores_per_node=4), preset, seed=seed)
        self.events, self.deployed = [], []
        deploy = self.engine.deploy

        def deployed(topology, configuration, detail, *, fused=False, **rest):
            self.deployed.append((topology.name, configuration, fused))
            return deploy(topology, configuration, detail, fused=fused, **rest)

        self.engine.deploy = deployed
        self.outcome = HeadToHead(self.engine, variants, report=self.events.append, **more).run()

    def all(self, kind):
        return [event for event in self.events if isinstance(event, kind)]


def test_the_faster_variant_is_named_with_its_margin():
    """Whatever its sources and operators are called; what counts are rows of the source."""
    seen = Watched(SLOW, FAST)
    outcome = seen.outcome
    truth = [seen.engine.truth(each.topology, each.configuration).throughput_per_s for each in (SLOW, FAST)]
    assert outcome.ranking.verdict is RankVerdict.FASTER
    assert outcome.ranking.leaders == (1,)
    pair = outcome.ranking.pair(0, 1)
    assert pair.low < truth[1] / truth[0] - 1 < pair.high
    assert [outcome.throughput_per_s(arm) for arm in (0, 1)] == pytest.approx(truth, rel=0.03)
    assert outcome.throughput_per_s(1) / outcome.throughput_per_s(0) == pytest.approx(1 + pair.effect)
    assert outcome.effect(0) == pytest.approx(1 / (1 + pair.effect) - 1)


def test_variants_take_turns_and_every_second_turn_is_mirrored():
    """Each with its own topology and tasks."""
    third = variant("third", 0.99, tasks=2)
    seen = Watched(SLOW, FAST, third, preset=Preset.SHARED)
    arms = [block.arm for block in seen.outcome.blocks]
    assert arms[:9] == [0, 1, 2, 2, 1, 0, 0, 1, 2]
    assert [event.name for event in seen.all(BlockStarted)[:3]] == ["slow", "fast", "third"]
    names = ["slow", "fast", "third"]
    assert [name for name, *_ in seen.deployed[3:]] == [names[arm] for arm in arms]
    assert {configuration for name, configuration, _ in seen.deployed if name == "third"} == {third.configuration}
    assert [event.number for event in seen.all(BlockMeasured)] == list(range(1, len(arms) + 1))


def test_every_variant_is_stressed_and_probed_by_its_own_pace():
    """What its profile said may be old: it is loaded first, which tells the pace of today."""
    seen = Watched(replace(SLOW, expected_per_s=50.0), replace(FAST, expected_per_s=9e5))
    assert [(event.number, event.name) for event in seen.all(LoadingStarted)] == [(1, "slow"), (2, "fast")]
    for phase, load in ((Phase.BLOCK, STRESS), (Phase.PROBE, BLOCK_PROBE_LOAD)):
        offered = {(e.configuration, e.observation.offered_per_s) for e in seen.all(WindowSeen) if e.phase is phase}
        assert len(offered) == 2
        for each in seen.outcome.variants:
            assert dict(offered)[each.configuration] == pytest.approx(load * each.expected_per_s)
    slow, fast = (each.expected_per_s for each in seen.outcome.variants)
    assert fast / slow == pytest.approx(1 / 0.7, rel=0.1)


def test_a_variant_that_was_just_profiled_here_needs_no_loading():
    """Its pace is known, and so is its code."""
    seen = Watched(replace(SLOW, is_warm=True), replace(FAST, is_warm=True, expected_per_s=1300.0))
    assert not seen.all(LoadingStarted)
    assert [each.expected_per_s for each in seen.outcome.variants] == [1000.0, 1300.0]


class ColdEngine(SimulatedEngine):
    """An engine that needs a minute under load to come up to its speed."""

    @property
    def platform(self):
        return replace(super().platform, cold_s=60.0)


def test_a_cold_engine_is_loaded_longer_than_one_that_is_warm():
    """The first variant waits for the whole engine, the others for their own code."""
    seen = Watched(SLOW, FAST, kind=ColdEngine)
    first, second = (
        sum(e.phase is Phase.WARM_UP for e in seen.all(WindowSeen) if e.configuration == each.configuration)
        for each in (SLOW, FAST)
    )
    assert first >= 20
    assert 10 <= second < 20


def test_a_clear_difference_ends_after_half_of_the_blocks():
    """At the first look, with its part of the level."""
    outcome = Watched(SLOW, FAST).outcome
    assert len(outcome.blocks) == DESIGN.blocks
    assert outcome.confidence == pytest.approx(1 - 0.2 * 0.05)
    assert outcome.complete


def test_a_job_and_its_twin_tie_on_a_quiet_machine():
    """Which is a clear answer as well."""
    outcome = Watched(SLOW, variant("twin", 1.0)).outcome
    assert outcome.ranking.verdict is RankVerdict.TIE
    assert outcome.ranking.ranks == (1, 1)


def test_only_variants_that_are_not_settled_are_measured_on():
    """One that is clearly slower than both others has its rank."""
    seen = Watched(variant("a", 0.5), variant("slow", 1.5), variant("b", 0.49), preset=Preset.SHARED)
    arms = [block.arm for block in seen.outcome.blocks]
    assert arms.count(1) == DESIGN.blocks // 2
    assert arms.count(0) == arms.count(2) == DESIGN.blocks
    assert arms[12:] == [0, 2, 2, 0, 0, 2, 2, 0]
    assert seen.outcome.ranking.ranks[1] == 3
    assert seen.all(BlockStarted)[-1].planned == len(arms)
    assert seen.outcome.confidence == pytest.approx(1 - 0.8 * 0.05)


class Clock:
    """A clock that moves on by what is done."""

    now_s = 0.0

    def __call__(self):
        return self.now_s


def in_time(ends_s):
    """Compare variants that are alike, on an engine that takes five seconds for a deployment and none for windows."""
    clock = Clock()

    class Timed(SimulatedEngine):
        def deploy(self, *rest, **more):
            clock.now_s += 5
            return super().deploy(*rest, **more)

    variants = (SLOW, variant("twin", 0.98))
    outcome = Watched(*variants, preset=Preset.SHARED, kind=Timed, clock=clock, ends_s=ends_s).outcome
    assert clock.now_s <= ends_s
    return outcome


@pytest.mark.parametrize(("ends_s", "turns"), [(35.0, 2), (40.0, 3), (59.0, 4)])
def test_no_turn_starts_that_would_end_too_late(ends_s, turns):
    """Loading both takes ten seconds, and so does each turn: one of which only half has time is not begun."""
    outcome = in_time(ends_s)
    assert len(outcome.blocks) == 2 * turns
    assert not outcome.complete


def test_a_look_that_no_turn_can_follow_may_use_all_of_the_level():
    """An early look after four turns would have used a fifth of it in vain."""
    assert in_time(59.0).confidence == pytest.approx(1 - 0.05)
    assert in_time(69.0).confidence == pytest.approx(1 - 0.8 * 0.05)


def test_a_time_that_is_up_at_once_is_inconclusive():
    """Nothing was measured, so nothing is said."""
    outcome = Watched(SLOW, FAST, ends_s=-1.0).outcome
    assert (outcome.blocks, outcome.ranking.verdict) == ((), RankVerdict.INCONCLUSIVE)
    assert outcome.throughput_per_s(0) is None


@pytest.mark.parametrize("measured", [2, 5, 11])
def test_an_interrupted_comparison_goes_on_after_its_last_block(measured):
    """Nothing is measured twice, in the middle of a turn or after the first look, and the rates stay."""
    variants = (SLOW, variant("twin", 0.97))
    whole = Watched(*variants, preset=Preset.SHARED)
    kept = [PastBlock(event.block, event.expected_per_s) for event in whole.all(BlockMeasured)][:measured]
    rest = Watched(*variants, preset=Preset.SHARED, seed=2, past=kept)
    assert len(whole.outcome.blocks) == len(rest.outcome.blocks) == 2 * DESIGN.blocks
    assert rest.outcome.blocks[:measured] == whole.outcome.blocks[:measured]
    assert [block.arm for block in rest.outcome.blocks] == [block.arm for block in whole.outcome.blocks]
    assert [event.number for event in rest.all(BlockMeasured)] == list(range(measured + 1, 2 * DESIGN.blocks + 1))
    assert [each.expected_per_s for each in rest.outcome.variants] == [
        each.expected_per_s for each in whole.outcome.variants
    ]


def test_a_job_as_written_is_deployed_as_written():
    """Where today's job is the best configuration, no shuffles are added to it."""
    seen = Watched(replace(SLOW, fused=True), FAST)
    assert {(name, fused) for name, _, fused in seen.deployed} == {("slow", True), ("fast", False)}


@pytest.mark.long
def test_equal_variants_tie_on_a_shared_machine_or_stay_inconclusive():
    """Of ten comparisons of a job with itself at most one may name a winner."""
    twins = (variant("one", 1.0, is_warm=True), variant("two", 1.0, is_warm=True))
    verdicts = [Watched(*twins, preset=Preset.SHARED, seed=seed).outcome.ranking.verdict for seed in range(10)]
    assert verdicts.count(RankVerdict.FASTER) <= 1
