"""A gate on an engine that runs two deployments at the same time: turns are pairs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profiler.engines.simulated.deployment import Clock
from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.noise import Preset
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.errors import ProfileError
from profiler.experiment.events import BlockMeasured, BlockStarted
from profiler.experiment.observation import Detail
from profiler.job.configuration import Configuration
from profiler.questions.gate.criteria import BASELINE, CANDIDATE, Criterion
from profiler.questions.gate.experiment import DESIGN, Drill, Side, StoredSide, side_by_side
from profiler.questions.gate.verdict import GateLimits, GateVerdict
from tests.gate.test_gate_experiment import Watched, job, side
from tests.gate.test_gate_time import sql_job

UNDECIDED = GateLimits(max_slowdown=1.0, rule_out=-1.0)
"""Nothing is so slow as to fail, or so fast as to pass."""


class Together(SimulatedEngine):
    """An engine that says it can run two at the same time; it counts how many it does."""

    open = most_open = 0

    @property
    def platform(self):
        return replace(super().platform, side_by_side=True)

    def deploy(self, *rest, **more):
        deployment = super().deploy(*rest, **more)
        deployment.clock = Clock()  # of its own: what counts must not depend on which thread comes first
        Together.open += 1
        Together.most_open = max(Together.most_open, Together.open)
        close = deployment.close

        def closed():
            Together.open -= 1
            close()

        deployment.close = closed
        return deployment


@pytest.fixture(autouse=True)
def none_open():
    Together.open = Together.most_open = 0
    yield
    assert Together.open == 0, "all are closed"


def gate_of(candidate, **more):
    return Watched(candidate, kind=Together, **more)


def numbers(gate):
    return [event.number for event in gate.events if isinstance(event, BlockMeasured)]


def test_both_versions_of_a_turn_run_at_the_same_time():
    """Each turn the other one is deployed first; who watches sees one block of both."""
    slower = job(0.52)
    gate = gate_of(slower, limits=UNDECIDED)
    arms = [block.arm for block in gate.outcome.blocks]
    assert arms[:6] == [BASELINE, CANDIDATE, CANDIDATE, BASELINE, BASELINE, CANDIDATE]
    assert len(arms) == 2 * DESIGN.blocks
    assert [topology is slower for topology, _ in gate.deployed[1:]] == [arm == CANDIDATE for arm in arms]
    assert {detail for _, detail in gate.deployed[1:]} == {Detail.APART}
    assert [event.name for event in gate.blocks[:2]] == ["baseline and candidate", "candidate and baseline"]
    assert [event.index for event in gate.blocks] == list(range(0, 2 * DESIGN.blocks, 2))
    assert Together.most_open == 2
    assert numbers(gate) == list(range(1, 2 * DESIGN.blocks + 1))
    for block in gate.outcome.blocks:
        assert (len(block.windows), len(block.probe)) == (DESIGN.block, DESIGN.block_probe)


def test_slower_code_is_found_and_named_and_the_same_passes():
    """The differences of pairs are judged: so many degrees of freedom as turns, less one."""
    slower, same = gate_of(job(0.7)), gate_of(job())
    assert slower.outcome.verdict is GateVerdict.SLOWER
    assert slower.outcome.judgement.slower_operator.name == "work"
    assert same.outcome.verdict is GateVerdict.PASS
    assert len(same.outcome.blocks) == DESIGN.blocks


def test_where_the_slots_hold_only_one_they_take_turns():
    """Three tasks each, and five slots."""
    engine = Together(SimulatedPlatform(slots=5), Preset.QUIET, seed=1)
    assert not side_by_side(engine, side("baseline", job()), side("candidate", job()))
    room = Together(SimulatedPlatform(slots=6), Preset.QUIET, seed=1)
    assert side_by_side(room, side("baseline", job()), side("candidate", job()))
    wide = Side("candidate", job(), Configuration.of({"rows": 1, "parse": 1, "work": 2}))
    assert not side_by_side(room, side("baseline", job()), wide)
    assert not side_by_side(SimulatedEngine(SimulatedPlatform(), Preset.QUIET), side("a", job()), side("b", job()))


def test_a_stored_baseline_had_company_so_the_candidate_has_too():
    """It runs beside itself: alone it would have the caches and cores that the baseline had to share.

    Two blocks of one version at the same time are no two values.
    """
    measured = gate_of(job()).outcome
    assert measured.together
    kept = tuple(block for block in measured.blocks if block.arm == BASELINE)
    stored = StoredSide("main", kept, measured.throughput_per_s, had_company=True)
    Together.most_open = 0
    same, slower = gate_of(job(), baseline=stored, seed=2), gate_of(job(0.7), baseline=stored, seed=2)
    assert Together.most_open == 2
    assert [block.arm for block in same.outcome.blocks[len(kept) :]] == [CANDIDATE] * (DESIGN.blocks // 2)
    assert len(same.deployed) == 1 + 2 * (DESIGN.blocks // 2), "its company does not count"
    assert numbers(same) == list(range(1, DESIGN.blocks // 2 + 1))
    assert {event.name for event in same.blocks} == {"candidate"}
    assert (same.outcome.verdict, slower.outcome.verdict) == (GateVerdict.PASS, GateVerdict.SLOWER)
    assert not same.outcome.interleaved


@pytest.mark.parametrize("done", [4, 5])
def test_an_interrupted_gate_goes_on_after_its_last_pair(done):
    """A block whose companion was not stored has nothing to be compared with, and is measured again."""
    whole = gate_of(job(0.51), limits=UNDECIDED, preset=Preset.SHARED)
    past, rate = whole.outcome.blocks[:done], whole.outcome.throughput_per_s
    gate = gate_of(job(0.51), seed=2, past=past, past_expected_per_s=rate, limits=UNDECIDED, preset=Preset.SHARED)
    assert gate.outcome.blocks[:4] == past[:4]
    assert numbers(gate) == list(range(5, 2 * DESIGN.blocks + 1))
    assert gate.blocks[0].index == 4
    assert [block.arm for block in gate.outcome.blocks] == [block.arm for block in whole.outcome.blocks]


class Hanging(Together):
    """An engine on which the second version of the second turn lets nothing through."""

    deployed = 0

    def deploy(self, *rest, **more):
        deployment = super().deploy(*rest, **more)
        self.deployed += 1
        if self.deployed == 1 + 4:
            observe = deployment.observe
            deployment.observe = lambda rate_per_s, windows: (
                replace(seen, throughput_per_s=0.0) for seen in observe(rate_per_s, windows)
            )
        return deployment


def test_a_pair_is_told_of_as_a_whole_or_not_at_all():
    """Half of one that was stored would be taken for a companion of what is measured later."""
    told = []

    class Kept(Watched):
        def __init__(self, *rest, **more):
            try:
                super().__init__(*rest, **more)
            finally:
                told.extend(numbers(self))

    with pytest.raises(ProfileError, match="No row came through"):
        Kept(job(), kind=Hanging)
    assert told == [1, 2]


def test_a_drill_is_calibrated_beside_the_job_itself():
    """What the machine does meanwhile is in both, and the block does not count."""
    topology = sql_job()
    gate = gate_of(topology, baseline=side("baseline", topology), drill=Drill(0.2, runs_functions=True))
    assert [event.name for event in gate.blocks[:2]] == ["candidate and calibration", "baseline and candidate"]
    assert [event.index for event in gate.blocks[:2]] == [0, 1]
    job_itself, loaded = gate.deployed[1:3]
    assert job_itself == (topology, Detail.APART)
    assert loaded[0] is not topology
    assert loaded[1] is Detail.APART
    assert gate.outcome.verdict is GateVerdict.SLOWER
    assert gate.outcome.judgement[Criterion.CPU].effect == pytest.approx(gate.outcome.drilled.expected_effect, rel=0.3)
    starts = [event for event in gate.events if isinstance(event, BlockStarted)]
    assert len(gate.outcome.blocks) == 2 * (len(starts) - 1)
