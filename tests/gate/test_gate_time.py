"""A gate that has to end in time, on an engine that takes as long as Spark does: how many turns, and what for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.noise import Preset
from profiler.experiment.events import BlockStarted, Phase, WindowSeen
from profiler.job.topology import Cost, Operator, Source, Topology
from profiler.questions.gate.criteria import BASELINE
from profiler.questions.gate.drill import preparation as drilling
from profiler.questions.gate.drill.burden import burdened
from profiler.questions.gate.experiment import DESIGN, FEWEST_BLOCKS, SHORT_BLOCK, Drill, StoredSide
from profiler.questions.gate.run import BUDGET_S, CLOSING_S, ends_by_s
from profiler.questions.gate.verdict import GateLimits, GateVerdict
from profiler.questions.gate.words import why
from profiler.settings.choices import EngineName
from profiler.settings.declarations import Settings
from tests.gate.test_gate_experiment import Watched, job, side

STARTED_S, FIRST_S, DEPLOYED_S, WINDOW_S = 20.0, 8.0, 5.0, 3.8
"""Of Spark: until the engine is there, the first deployment, all others, from window to window."""
ENDS_S = BUDGET_S - CLOSING_S
UNDECIDED = {"limits": GateLimits(max_slowdown=1.0, rule_out=-1.0)}
"""Nothing is so slow as to fail, or so fast as to pass."""


class Clock:
    """A clock that moves on by what is done."""

    def __init__(self, now_s=STARTED_S):
        self.now_s = now_s

    def __call__(self):
        return self.now_s


class SparkLike(SimulatedEngine):
    """The simulated engine with the times of Spark: cold for half a minute, and everything takes a while."""

    clock: Clock
    deployments = 0
    kind = None

    @property
    def platform(self):
        return replace(super().platform, cold_s=30.0)

    def deploy(self, *rest, **more):
        self.clock.now_s += DEPLOYED_S if self.deployments else FIRST_S
        self.deployments += 1
        return (self.kind or Timed)(super().deploy(*rest, **more), self.clock)


class Timed:
    """A deployment whose windows take their time."""

    def __init__(self, deployment, clock):
        self.deployment, self.clock = deployment, clock

    def observe(self, rate_per_s, windows):
        for seen in self.deployment.observe(rate_per_s, windows):
            self.clock.now_s += WINDOW_S
            yield seen

    def close(self):
        self.deployment.close()


class InTime(Watched):
    """A gate that ends in time, with the moment at which it did."""

    def __init__(self, candidate, *, ends_s=ENDS_S, **more):
        clock = Clock()

        def kind(*rest, **options):
            engine = SparkLike(*rest, **options)
            engine.clock = clock
            return engine

        super().__init__(candidate, kind=kind, clock=clock, ends_s=ends_s, **more)
        self.ended_s = clock.now_s

    @property
    def turns(self):
        return len(self.outcome.blocks) / 2

    def windows_of(self, name):
        """Tell the phases of the windows of all blocks with a name."""
        phases, here = [], False
        for event in self.events:
            if isinstance(event, BlockStarted):
                here = event.name == name
            elif isinstance(event, WindowSeen) and here:
                phases.append(event.phase)
        return phases


def sql(rows):
    return rows


def sql_job():
    operators = [Operator("parse", sql, cost=Cost(cpu_ms=0.2)), Operator("work", sql, cost=Cost(cpu_ms=0.5))]
    return Topology.chain("job", Source("rows"), *operators)


UNCHANGED = job()
CASES = {
    # Turns of two short blocks: 2 × (5 + 4 × 3.8) = 40.4 s.
    "a baseline that is run again, unchanged": (job, {"same_code": True}, 6),
    "the job and itself": (lambda: UNCHANGED, {"baseline": side("baseline", UNCHANGED)}, 6),
    # The candidate's code is loaded first: 5 + 5 × 3.8 = 24 s.
    "other code": (lambda: job(0.51), {}, 5),
}


@pytest.mark.parametrize("case", CASES)
def test_no_block_starts_that_would_end_too_late(case):
    """In six minutes there are so many turns, and no time for one more; all ends before Spark has to be ended."""
    candidate, more, turns = CASES[case]
    gate = InTime(candidate(), **UNDECIDED, **more)
    assert gate.turns == turns
    assert not gate.outcome.complete
    turn_s = 2 * (DEPLOYED_S + (1 + SHORT_BLOCK + 1) * WINDOW_S)
    assert ENDS_S - turn_s < gate.ended_s <= ENDS_S


def test_a_drill_of_dataframes_has_time_for_five_turns():
    """It is calibrated and warmed up by one block; then it counts, and ends in time."""
    topology = sql_job()
    drill, preset = Drill(0.1, runs_functions=True), Preset.SHARED
    gate = InTime(
        topology, baseline=side("baseline", topology), drill=drill, preset=preset, seed=3, limits=GateLimits(0.02, 0.03)
    )
    assert gate.turns == 5
    assert gate.ended_s <= ENDS_S
    assert [event.name for event in gate.blocks[:2]] == ["calibration", "baseline"]


def test_a_drill_is_calibrated_on_code_that_the_engine_has_come_to_know():
    """The first windows, as many as new code needs, are dropped; there is no latency probe, and no second warm-up."""
    topology = sql_job()
    gate = InTime(topology, baseline=side("baseline", topology), drill=Drill(0.2, runs_functions=True))
    assert gate.windows_of("calibration") == [Phase.BLOCK] * (5 + DESIGN.block)
    assert gate.windows_of("candidate, warm-up") == []


class Learning(Timed):
    """A deployment of code that is new to a compiler: its first windows take three times the CPU."""

    def observe(self, rate_per_s, windows):
        for number, seen in enumerate(super().observe(rate_per_s, windows)):
            operators = {name: replace(each, cpu_s=3 * each.cpu_s) for name, each in seen.operators.items()}
            yield replace(seen, operators=operators) if number < 5 else seen


def test_a_number_costs_what_it_does_once_it_is_compiled(monkeypatch):
    """Else it would seem dearer than it is, fewer would be drawn, and the drill would be smaller than was asked for."""
    loaded = []
    monkeypatch.setattr(
        drilling, "burdened", lambda topology, burden: loaded.append(burden) or burdened(topology, burden)
    )
    topology = sql_job()
    for kind in (Timed, Learning):
        monkeypatch.setattr(SparkLike, "kind", kind)
        InTime(topology, baseline=side("baseline", topology), drill=Drill(0.2, runs_functions=True))
    known, learnt = loaded[1].numbers_per_row, loaded[3].numbers_per_row
    assert learnt == known > 1


def test_new_code_is_loaded_without_a_probe():
    """Its latency would be nobody's."""
    assert InTime(job(0.51), **UNDECIDED).windows_of("candidate, warm-up") == [Phase.BLOCK] * 5


def test_code_that_is_drilled_and_new_is_loaded_once():
    """A job of another version, whose operators are no functions of DataFrames, needs no calibration but a warm-up."""
    gate = InTime(job(0.51), drill=Drill(0.2, runs_functions=True))
    assert [event.name for event in gate.blocks[:2]] == ["candidate, warm-up", "baseline"]


def test_blocks_are_short_only_where_not_all_long_ones_fit():
    """With ample time they have three windows under stress; a stored baseline leaves time enough."""
    short, ample = InTime(job(), **UNDECIDED), InTime(job(), ends_s=3600.0, **UNDECIDED)
    assert {len(block.windows) for block in short.outcome.blocks} == {SHORT_BLOCK}
    assert {len(block.windows) for block in ample.outcome.blocks} == {DESIGN.block}
    assert ample.turns == DESIGN.blocks
    kept = tuple(block for block in ample.outcome.blocks if block.arm == BASELINE)
    stored = StoredSide("main", kept, ample.outcome.throughput_per_s)
    alone = InTime(job(), baseline=stored, **UNDECIDED)
    assert (alone.turns, alone.outcome.complete) == (DESIGN.blocks, True)


def test_blocks_are_as_long_as_those_that_they_are_compared_with():
    """Of an interrupted session, or of a stored baseline: later windows of a block may be faster ones."""
    short = InTime(job(), **UNDECIDED).outcome
    rate = short.throughput_per_s
    again = InTime(job(), ends_s=3600.0, past=short.blocks[:4], past_expected_per_s=rate, **UNDECIDED)
    assert {len(block.windows) for block in again.outcome.blocks} == {SHORT_BLOCK}
    stored = StoredSide("main", tuple(block for block in short.blocks if block.arm == BASELINE), rate)
    beside = InTime(job(), baseline=stored, ends_s=3600.0, **UNDECIDED)
    assert {len(block.windows) for block in beside.outcome.blocks} == {SHORT_BLOCK}


def test_a_look_that_no_turn_can_follow_is_the_last_one():
    """It may use all of the significance level; the early look would have used a fifth, and left the rest unused."""
    early = DESIGN.blocks // 2
    four, five = (InTime(job(), ends_s=ends_s, same_code=True, **UNDECIDED) for ends_s in (258.0, 296.0))
    assert (four.turns, five.turns) == (early, early + 1)
    assert four.outcome.judgement.confidence == pytest.approx(1 - 0.05)
    assert five.outcome.judgement.confidence == pytest.approx(1 - 0.8 * 0.05)


def test_a_look_that_an_interrupted_session_took_is_not_taken_back():
    """It used up its part: all of the level, once more, would be too much."""
    whole = InTime(job(), ends_s=3600.0, same_code=True, **UNDECIDED).outcome
    past, rate = whole.blocks[: DESIGN.blocks], whole.throughput_per_s
    gate = InTime(job(), ends_s=110.0, same_code=True, past=past, past_expected_per_s=rate, **UNDECIDED)
    assert len(gate.outcome.blocks) == DESIGN.blocks
    assert gate.outcome.judgement.confidence == pytest.approx(1 - 0.8 * 0.05)


def test_a_drill_is_foreseen_with_the_blocks_that_there_is_time_for():
    """After its calibration few are left, so that less can be found than with all of them."""
    topology = sql_job()

    def drilled(ends_s):
        drill = Drill(0.01, runs_functions=True)
        gate = InTime(topology, baseline=side("baseline", topology), drill=drill, preset=Preset.SHARED, ends_s=ends_s)
        return gate.outcome.drilled.foreseen_effect

    # The reference ends at 89 s, the calibration would at 124.2; a turn of short blocks takes 40.4 s.
    assert drilled(124.3 + 2 * 40.4) > drilled(ENDS_S) > drilled(None)
    assert drilled(124.3 + 2.9 * 40.4) == drilled(124.3 + 2 * 40.4 + 1)


def test_a_drill_that_there_is_no_time_for_is_not_begun():
    """Neither is it calibrated; more time is asked for, not a longer drill."""
    topology = sql_job()
    gate = InTime(
        topology, baseline=side("baseline", topology), drill=Drill(0.3, runs_functions=True), ends_s=89.0 + 60
    )
    assert gate.blocks == []
    assert (gate.outcome.verdict, gate.outcome.complete) == (GateVerdict.INCONCLUSIVE, False)
    assert f"no time for {FEWEST_BLOCKS} blocks of each version" in why(gate.outcome, GateLimits(), {})


def test_no_code_is_loaded_for_blocks_that_there_is_no_time_for():
    """The time was up before any of them."""
    gate = InTime(job(0.51), ends_s=110.0)
    assert gate.blocks == []
    assert gate.ended_s <= 110.0


@pytest.mark.parametrize(("budget_s", "ends_s"), [(None, 435.0), (600.0, 675.0)])
def test_the_budget_of_a_gate_on_spark_has_time_to_end_spark(budget_s, ends_s):
    """Six minutes unless it is set, from the start of the command until nothing of it runs any more."""
    assert ends_by_s(Settings(engine=EngineName.SPARK, budget_s=budget_s), 100.0) == ends_s


def test_a_simulated_gate_has_all_the_time_unless_it_is_told_otherwise():
    """There is nothing to end."""
    assert ends_by_s(Settings(engine=EngineName.SIMULATED), 100.0) is None
    assert ends_by_s(Settings(engine=EngineName.SIMULATED, budget_s=60.0), 100.0) == 160.0
