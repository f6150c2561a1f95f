"""The loop of a gate: both versions in turn, two looks, and a drill that must be found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.noise import Preset
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.errors import ProfileError
from profiler.experiment.events import BlockStarted, LoadingStarted, Phase, WindowSeen
from profiler.experiment.observation import Detail
from profiler.job.configuration import Configuration
from profiler.job.topology import Cost, Operator, Source, Topology
from profiler.questions.gate.criteria import BASELINE, CANDIDATE, Criterion
from profiler.questions.gate.experiment import DESIGN, Drill, GateExperiment, Side, StoredSide
from profiler.questions.gate.verdict import GateLimits, GateVerdict
from profiler.questions.gate.words import why


def job(work_ms: float = 0.5, **more: float) -> Topology:
    steps = {"parse": 0.2, "work": work_ms, **more}
    operators = [Operator(name, cost=Cost(cpu_ms=cost)) for name, cost in steps.items()]
    return Topology.chain("job", Source("rows"), *operators)


BASE = job()


class Watched:
    """A gate on the simulated engine, with what it told and deployed."""

    def __init__(self, candidate, *, baseline=None, preset=Preset.QUIET, seed=1, kind=SimulatedEngine, **more):
        engine = kind(SimulatedPlatform(cores_per_node=4), preset, seed=seed)
        self.events, self.notes, self.deployed = [], [], []
        deploy = engine.deploy

        def deployed(topology, configuration, detail, **rest):
            self.deployed.append((topology, detail))
            return deploy(topology, configuration, detail, **rest)

        engine.deploy = deployed
        self.outcome = GateExperiment(
            engine,
            side("baseline", job()) if baseline is None else baseline,
            side("candidate", candidate),
            report=self.events.append,
            note=self.notes.append,
            **more,
        ).run()

    @property
    def blocks(self):
        return [event for event in self.events if isinstance(event, BlockStarted)]


def side(name, topology):
    return Side(name, topology, Configuration.of(dict.fromkeys(topology.names, 1)))


def test_both_versions_are_measured_in_turn_and_mirrored():
    """ABBA…, each block with its own topology, operators apart, after one round that loads the engine."""
    slower = job(0.52)
    gate = Watched(slower, preset=Preset.SHARED, limits=GateLimits(0.5, 0.5001))
    arms = [block.arm for block in gate.outcome.blocks]
    assert arms[:8] == [BASELINE, CANDIDATE, CANDIDATE, BASELINE, BASELINE, CANDIDATE, CANDIDATE, BASELINE]
    assert [event.name for event in gate.blocks[:3]] == ["baseline", "candidate", "candidate"]
    assert [event.index for event in gate.blocks] == list(range(len(arms)))
    assert {event.planned for event in gate.blocks} == {2 * DESIGN.blocks}
    first, *others = gate.deployed
    assert first[1] is Detail.APART
    assert [topology is slower for topology, _ in others] == [arm == CANDIDATE for arm in arms]
    assert {detail for _, detail in others} == {Detail.APART}
    assert sum(isinstance(event, LoadingStarted) for event in gate.events) == 1


def test_both_versions_are_offered_the_same():
    """Under stress twice what the baseline does, and in the probe a rate that both can follow."""
    gate = Watched(job(0.6))
    for phase in (Phase.BLOCK, Phase.PROBE):
        windows = [event for event in gate.events if isinstance(event, WindowSeen) and event.phase is phase]
        assert len({event.observation.offered_per_s for event in windows}) == 1
    block = gate.outcome.blocks[0]
    assert (len(block.windows), len(block.probe)) == (DESIGN.block, DESIGN.block_probe)
    assert block.probe[0].throughput_per_s < block.windows[0].throughput_per_s


def test_what_is_clear_ends_after_half_of_the_blocks():
    """A third more work shows at the first look, and so does that nothing changed, on a quiet machine."""
    slower, same = Watched(job(0.7)), Watched(job())
    assert slower.outcome.verdict is GateVerdict.SLOWER
    assert slower.outcome.judgement.slower_operator.name == "work"
    assert same.outcome.verdict is GateVerdict.PASS
    assert len(slower.outcome.blocks) == len(same.outcome.blocks) == DESIGN.blocks
    assert slower.outcome.complete


def test_what_is_not_clear_gets_all_its_blocks():
    """The second look may use what the first one left of the level."""
    gate = Watched(job(), preset=Preset.SHARED, limits=GateLimits(0.02, 0.03))
    assert len(gate.outcome.blocks) == 2 * DESIGN.blocks
    assert gate.outcome.judgement.confidence == pytest.approx(1 - 0.8 * 0.05)


def test_a_time_that_is_up_at_once_is_inconclusive():
    """Nothing was measured, so nothing is said."""
    gate = Watched(job(), ends_s=-1.0)
    assert (gate.outcome.blocks, gate.outcome.verdict) == ((), GateVerdict.INCONCLUSIVE)


def test_a_stored_baseline_takes_part_with_its_blocks():
    """Only the candidate is measured; the comparison knows that they did not take turns."""
    measured = Watched(job()).outcome
    kept = tuple(block for block in measured.blocks if block.arm == BASELINE)
    stored = StoredSide("main", kept, measured.throughput_per_s)
    same = Watched(job(), baseline=stored, seed=2)
    slower = Watched(job(0.7), baseline=stored, seed=2)
    offered = {block.probe[0].offered_per_s for block in slower.outcome.blocks}
    assert len(offered) == 1, "a slower candidate must not be probed more gently than the baseline was"
    assert {event.name for event in same.blocks} == {"candidate"}
    assert (same.outcome.verdict, slower.outcome.verdict) == (GateVerdict.PASS, GateVerdict.SLOWER)
    assert not same.outcome.interleaved
    assert slower.outcome.judgement.slower_operator.name == "work"


class FromSessionToSession(SimulatedEngine):
    """An engine whose sessions differ by a tenth although nothing was changed."""

    @property
    def platform(self):
        return replace(super().platform, session_sd=0.1)


def test_what_an_engine_s_sessions_differ_by_is_no_slower_code():
    """Against stored blocks only: versions that take turns meet in one session."""
    measured = Watched(job()).outcome
    stored = StoredSide("main", measured.blocks, measured.throughput_per_s)
    across = Watched(job(0.7), baseline=stored, seed=2, kind=FromSessionToSession)
    assert across.outcome.verdict is GateVerdict.INCONCLUSIVE
    assert Watched(job(0.7), seed=2, kind=FromSessionToSession).outcome.verdict is GateVerdict.SLOWER


def test_a_drill_makes_the_largest_operator_work_longer_and_is_found():
    """Its effect on the job is told before anything is compared, and comes true."""
    gate = Watched(job(), drill=Drill(0.2, runs_functions=False))
    drilled = gate.outcome.drilled
    assert gate.outcome.verdict is GateVerdict.SLOWER
    assert gate.outcome.judgement.slower_operator.name == drilled.operator == "work"
    assert drilled.expected_effect == pytest.approx(0.2 * drilled.share)
    assert gate.outcome.judgement[Criterion.CPU].effect == pytest.approx(drilled.expected_effect, abs=0.03)
    assert len(gate.notes) == 1
    assert f"{drilled.expected_effect:+.1%} CPU per row are expected" in gate.notes[0]
    assert gate.deployed[0][1] is Detail.FULL


def test_a_drill_that_is_missed_is_no_pass():
    """Little more of one operator is within what a pass allows; whoever drills wants to see it found."""
    gate = Watched(job(), drill=Drill(0.006, runs_functions=False), limits=GateLimits(0.001, 0.1))
    assert gate.outcome.judgement.verdict is not GateVerdict.SLOWER
    assert gate.outcome.verdict is GateVerdict.INCONCLUSIVE
    assert "the drill was not found: +0.4% CPU per row were expected" in why(gate.outcome, GateLimits(), {})


def test_a_drill_below_the_limit_is_measured_and_told():
    """1 % more work of one operator is below any limit: all is measured, and no number of blocks would show it."""
    gate = Watched(job(), drill=Drill(0.01, runs_functions=False))
    assert gate.outcome.verdict is GateVerdict.INCONCLUSIVE
    assert gate.outcome.judgement is not None
    assert gate.outcome.needed_blocks is None
    assert gate.notes[0].endswith(": it is measured all the same")
    said = why(gate.outcome, GateLimits(), {})
    assert "it is below the limit of 5%: a longer drill or a lower --max-slowdown may do" in said


def test_a_drill_that_so_many_blocks_do_not_find_tells_how_many_would():
    """As many as the noise that was seen makes necessary; and so many do find it."""

    def drilled(blocks, seed):
        design = replace(DESIGN, blocks=blocks)
        return Watched(job(), drill=Drill(0.1, runs_functions=False), preset=Preset.SHARED, seed=seed, design=design)

    few = [drilled(3, seed).outcome for seed in range(10)]
    missed = [each for each in few if each.verdict is not GateVerdict.SLOWER]
    assert len(missed) > 5
    needed = sorted(each.needed_blocks for each in missed if each.needed_blocks is not None)
    typical = needed[len(needed) // 2]
    assert typical > 3
    enough = [drilled(typical, seed).outcome.verdict is GateVerdict.SLOWER for seed in range(10)]
    assert sum(enough) >= 6


def test_a_gate_that_could_not_tell_foresees_the_blocks_that_would():
    """More of them where it saw less; none where it could tell."""

    def needed(preset):
        return Watched(job(), preset=preset, limits=GateLimits(0.01, 0.015), design=replace(DESIGN, blocks=3)).outcome

    assert needed(Preset.SHARED).verdict is GateVerdict.INCONCLUSIVE
    assert needed(Preset.SHARED).needed_blocks > 3
    assert Watched(job()).outcome.needed_blocks is None


def test_a_wait_that_only_latency_shows_is_found_and_named():
    """The operator has tasks to spare, so that neither CPU per row nor throughput change."""

    def asking(wait_ms):
        operators = [Operator("ask", cost=Cost(cpu_ms=0.1, wait_ms=wait_ms)), Operator("work", cost=Cost(cpu_ms=0.5))]
        return Topology.chain("job", Source("rows"), *operators)

    def with_room(name, wait_ms):
        return Side(name, asking(wait_ms), Configuration.of({"rows": 1, "ask": 60, "work": 1}))

    engine = SimulatedEngine(SimulatedPlatform(cores_per_node=4, slots=80), Preset.QUIET, seed=1)
    found = GateExperiment(engine, with_room("baseline", 2.0), with_room("candidate", 12.0)).run().judgement
    slower = [finding.criterion for finding in found.findings if finding.verdict is GateVerdict.SLOWER]
    assert slower == [Criterion.LATENCY]
    assert found.verdict is GateVerdict.SLOWER
    assert found.slower_operator.name == "ask"


def test_more_noise_needs_a_longer_drill():
    """What the gate could find is foreseen from the windows seen before it."""
    quiet = Watched(job(), drill=Drill(0.01, runs_functions=False)).outcome.drilled
    shared = Watched(job(), drill=Drill(0.01, runs_functions=False), preset=Preset.SHARED).outcome.drilled
    assert shared.foreseen_effect > quiet.foreseen_effect > 0.05


def test_an_operator_that_was_added_is_named():
    """The baseline does not have it."""
    gate = Watched(job(audit=0.2))
    assert gate.outcome.verdict is GateVerdict.SLOWER
    assert gate.outcome.judgement.slower_operator.name == "audit"


class ColdEngine(SimulatedEngine):
    """An engine that needs twelve seconds under load to come up to its speed."""

    @property
    def platform(self):
        return replace(super().platform, cold_s=12.0)


def test_code_that_the_engine_has_not_seen_is_loaded_before_it_counts():
    """What a compiler still learns would look slower; code that is the baseline's own needs no such time."""
    changed = Watched(job(0.51), kind=ColdEngine)
    same = Watched(BASE, baseline=side("baseline", BASE), kind=ColdEngine)
    assert [event.name for event in changed.blocks[:3]] == ["candidate, warm-up", "baseline", "candidate"]
    assert [event.index for event in changed.blocks[:3]] == [0, 1, 2]
    assert changed.blocks[-1].planned == 1 + 2 * DESIGN.blocks
    assert [event.name for event in same.blocks[:2]] == ["baseline", "candidate"]
    assert len(changed.outcome.blocks) == len(changed.blocks) - 1
    warm_up = [event for event in changed.events if isinstance(event, WindowSeen) and event.phase is Phase.BLOCK][:2]
    assert [event.planned for event in warm_up] == [2, 2]


def sql(rows):
    return rows


def test_a_drill_of_a_function_of_dataframes_is_calibrated():
    """Rows are counted for it, and the block that it takes does not count."""
    operators = [Operator("parse", sql, cost=Cost(cpu_ms=0.2)), Operator("work", sql, cost=Cost(cpu_ms=0.5))]
    topology = Topology.chain("job", Source("rows"), *operators)
    gate = Watched(topology, baseline=side("baseline", topology), drill=Drill(0.2, runs_functions=True))
    assert [event.name for event in gate.blocks[:2]] == ["calibration", "baseline"]
    assert gate.deployed[1][1] is Detail.FULL
    assert gate.outcome.verdict is GateVerdict.SLOWER
    assert len(gate.outcome.blocks) == len(gate.blocks) - 1


class Stalling(SimulatedEngine):
    """An engine on which some windows let nothing through, by the number of the deployment and of the window."""

    stalled: frozenset[tuple[int, int]] = frozenset()
    deployed = 0

    def deploy(self, *arguments, **more):
        number = self.deployed
        self.deployed += 1
        deployment = super().deploy(*arguments, **more)
        observe = deployment.observe

        def stalling(rate_per_s, windows):
            for index, seen in enumerate(observe(rate_per_s, windows)):
                is_stalled = (number, index) in self.stalled
                yield replace(seen, throughput_per_s=0.0) if is_stalled else seen

        deployment.observe = stalling
        return deployment


def test_a_version_that_lets_nothing_through_is_told():
    """It is neither slower nor inconclusive: CI must not turn green over a job that hangs."""

    class Hanging(Stalling):
        stalled = frozenset((2, index) for index in range(4))

    with pytest.raises(ProfileError, match="No row came through candidate in a whole block"):
        Watched(job(), kind=Hanging)


def test_a_single_stalled_window_ends_no_drill():
    """What an operator costs is read off the others."""

    class Stumbling(Stalling):
        stalled = frozenset([(0, 9)])

    assert Watched(job(), kind=Stumbling, drill=Drill(0.2, runs_functions=False)).outcome.verdict is GateVerdict.SLOWER
