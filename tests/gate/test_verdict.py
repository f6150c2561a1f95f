"""The verdict of a gate: pass, slower or inconclusive, and which operator it is."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from profiler.engines.simulated.noise import Preset
from profiler.experiment.observation import Latency
from profiler.questions.gate.criteria import Criterion
from profiler.questions.gate.slower_operator import OperatorQuantity
from profiler.questions.gate.verdict import GateLimits, GateVerdict, judge
from profiler.statistics.confirmation import BlockLayout
from profiler.statistics.doubt import Doubt
from tests.gate.gates import Version, blocks

TODAY = Version()
LIMITS = GateLimits()


def test_unchanged_code_passes_on_a_quiet_machine():
    """Both decisive criteria rule out what a pass rules out."""
    found = judge(blocks(TODAY, TODAY), LIMITS)
    assert found.verdict is GateVerdict.PASS
    assert found[Criterion.CPU].high < LIMITS.rule_out
    assert found[Criterion.THROUGHPUT].low > -LIMITS.rule_out
    assert found.slower_operator is None


def test_more_cpu_per_row_is_slower_and_its_operator_is_named():
    """With the effect on the job, its interval, and what the operator adds."""
    found = judge(blocks(TODAY, TODAY.with_cpu(count=6e-4)), LIMITS)
    cpu = found[Criterion.CPU]
    assert (found.verdict, cpu.verdict) == (GateVerdict.SLOWER, GateVerdict.SLOWER)
    assert cpu.low < 0.10 < cpu.high
    assert cpu.effect == pytest.approx(0.10, abs=0.02)
    assert cpu.candidate / cpu.baseline == pytest.approx(1 + cpu.effect)
    assert found.slower_operator is not None
    assert found.slower_operator.name == "count"
    assert found.slower_operator.effect == pytest.approx(0.2, abs=0.03)
    assert found.slower_operator.increase_s == pytest.approx(1e-4, rel=0.2)


def test_what_is_certain_but_small_does_not_fail():
    """3 % more is seen, and below the smallest slowdown that fails."""
    found = judge(blocks(TODAY, TODAY.with_cpu(count=5.3e-4)), LIMITS)
    assert found[Criterion.CPU].adjusted_p < 0.05
    assert found.verdict is GateVerdict.PASS
    assert judge(blocks(TODAY, TODAY.with_cpu(count=5.3e-4)), GateLimits(0.02)).verdict is GateVerdict.SLOWER


def test_a_faster_version_is_not_slower():
    """The tests are one-sided: a gain passes."""
    faster = replace(TODAY, throughput_per_s=1300.0).with_cpu(count=3e-4)
    found = judge(blocks(TODAY, faster), LIMITS)
    assert found.verdict is GateVerdict.PASS
    assert found[Criterion.CPU].p > 0.99
    assert found[Criterion.CPU].effect < -0.1


def test_noise_that_hides_the_limit_is_inconclusive():
    """Neither slower nor ruled out, and the gate says what it could have seen."""
    found = judge(blocks(TODAY, TODAY, per_version=3, preset=Preset.SHARED), LIMITS)
    assert found.verdict is GateVerdict.INCONCLUSIVE
    assert found[Criterion.THROUGHPUT].detectable_effect < -LIMITS.max_slowdown


def test_waiting_longer_is_slower_although_it_costs_no_cpu():
    """Throughput tells, and the operator is found by its working time."""
    waiting = replace(TODAY, wait_s={"parse": 1e-3, "count": 1e-3})
    longer = replace(waiting, throughput_per_s=830.0, wait_s={"parse": 1e-3, "count": 1.2e-3})
    found = judge(blocks(waiting, longer), LIMITS)
    assert found.verdict is GateVerdict.SLOWER
    assert found[Criterion.CPU].verdict is GateVerdict.PASS
    assert found[Criterion.THROUGHPUT].effect == pytest.approx(-0.17, abs=0.02)
    assert found.slower_operator is not None
    assert (found.slower_operator.name, found.slower_operator.quantity) == ("count", OperatorQuantity.BUSY)


def test_a_higher_latency_alone_is_told_and_fails_nothing():
    """No operator takes longer, so nobody is blamed: CPU per row and throughput pass."""
    found = judge(blocks(TODAY, replace(TODAY, latency_ms=30.0)), LIMITS)
    assert found.verdict is GateVerdict.PASS
    assert found.latency_alone
    assert found[Criterion.LATENCY].adjusted_p < 0.05
    assert found[Criterion.LATENCY].effect == pytest.approx(0.5, abs=0.05)
    assert found.slower_operator is None


@pytest.mark.parametrize("preset", [Preset.QUIET, Preset.SHARED])
def test_a_higher_latency_of_an_operator_that_waits_fails_and_names_it(preset):
    """It has time to spare, so neither CPU per row nor throughput change: its working time does."""
    waiting = replace(TODAY, latency_ms=60.0, wait_s={"parse": 2e-3})
    found = judge(blocks(TODAY, waiting, preset=preset), LIMITS)
    slower = [finding.criterion for finding in found.findings if finding.verdict is GateVerdict.SLOWER]
    assert (found.verdict, slower) == (GateVerdict.SLOWER, [Criterion.LATENCY])
    assert not found.latency_alone
    assert found.slower_operator is not None
    assert (found.slower_operator.name, found.slower_operator.quantity) == ("parse", OperatorQuantity.BUSY)


def test_a_higher_latency_of_a_new_operator_that_waits_fails_and_names_it():
    """What was added is to blame, as it takes more than what is gone."""
    added = replace(TODAY.with_cpu(ask=1e-9), latency_ms=60.0, wait_s={"ask": 2e-3})
    found = judge(blocks(TODAY, added), LIMITS)
    assert found.verdict is GateVerdict.SLOWER
    assert found.slower_operator is not None
    assert found.slower_operator.name == "ask"


def test_a_higher_latency_of_an_operator_that_was_renamed_is_no_operator_s():
    """It takes what the one that is gone took."""
    costs = {"source": 1e-4, "read": 4e-4, "count": 5e-4}
    found = judge(blocks(TODAY, replace(TODAY, latency_ms=60.0, cpu_s=costs)), LIMITS)
    assert (found.verdict, found.latency_alone) == (GateVerdict.PASS, True)


def test_a_higher_latency_fails_by_itself_where_waiting_is_in_no_figure():
    """Undeclared Python may sleep, and nothing but the latency would show it; nobody is blamed for certain."""

    def hiding(seen):
        return replace(
            seen, operators={name: replace(each, hides_python=True) for name, each in seen.operators.items()}
        )

    made = [
        replace(block, windows=tuple(map(hiding, block.windows)), probe=tuple(map(hiding, block.probe)))
        for block in blocks(TODAY, replace(TODAY, latency_ms=30.0))
    ]
    found = judge(made, LIMITS)
    assert (found.verdict, found.latency_alone) == (GateVerdict.SLOWER, False)
    assert found.slower_operator is None


def test_a_latency_that_is_not_known_does_not_keep_a_gate_from_passing():
    """No sampled row came out; that is told, and the others decide."""
    unknown = Latency(math.nan, math.nan, math.nan, math.nan)
    silent = [
        replace(block, probe=tuple(replace(each, processing_ms=unknown) for each in block.probe))
        for block in blocks(TODAY, TODAY)
    ]
    found = judge(silent, LIMITS)
    assert found.verdict is GateVerdict.PASS
    assert found[Criterion.LATENCY].verdict is GateVerdict.INCONCLUSIVE
    assert found[Criterion.LATENCY].warnings == (Doubt.TOO_FEW_WINDOWS,)


def test_one_operator_is_seen_where_the_whole_job_hides_it():
    """7 % of the job in one operator: the job's CPU per row shows it now and then, the operator's own always."""
    cheap = TODAY.with_cpu(source=1e-4, parse=6e-4, count=3e-4)
    slower = cheap.with_cpu(count=3.7e-4)
    found = [judge(blocks(cheap, slower, preset=Preset.SHARED, seed=seed), LIMITS) for seed in range(20)]
    assert sum(each[Criterion.CPU].verdict is GateVerdict.SLOWER for each in found) < 16
    assert sum(each[Criterion.OPERATOR].verdict is GateVerdict.SLOWER for each in found) >= 18
    assert {each.slower_operator.name for each in found if each.slower_operator} == {"count"}


def test_an_operator_that_is_new_is_named():
    """There is nothing to compare it with, but it is what was added."""
    added = TODAY.with_cpu(audit=2e-4)
    found = judge(blocks(TODAY, added), LIMITS)
    assert found.verdict is GateVerdict.SLOWER
    assert found.slower_operator is not None
    assert (found.slower_operator.name, found.slower_operator.effect) == ("audit", math.inf)


def test_several_criteria_share_one_error():
    """Holm's adjustment: no adjusted p is below its own."""
    found = judge(blocks(TODAY, TODAY.with_cpu(count=5.5e-4), preset=Preset.SHARED), LIMITS)
    assert all(finding.adjusted_p >= finding.p for finding in found.findings)
    assert any(finding.adjusted_p > finding.p for finding in found.findings)


def test_a_look_that_may_use_less_of_the_level_is_stricter():
    """Its intervals are wider and it detects less."""
    seen = blocks(TODAY, TODAY, preset=Preset.SHARED)
    whole, early = judge(seen, LIMITS), judge(seen, LIMITS, part=0.2)
    assert early[Criterion.CPU].high > whole[Criterion.CPU].high
    assert early[Criterion.CPU].detectable_effect > whole[Criterion.CPU].detectable_effect
    assert (early.confidence, whole.confidence) == (pytest.approx(0.99), pytest.approx(0.95))


def test_stored_blocks_are_not_taken_for_a_trend():
    """All of one version before all of the other: a trend could not be told from the difference."""
    seen = blocks(TODAY, TODAY.with_cpu(count=6e-4), interleaved=False)
    stored = judge(seen, LIMITS, layout=BlockLayout(interleaved=False))
    assert stored.verdict is GateVerdict.SLOWER
    assert stored[Criterion.CPU].detectable_effect < judge(seen, LIMITS)[Criterion.CPU].detectable_effect


def test_what_sessions_differ_by_is_noise():
    """Ten percent between two sessions may be the sessions'; half as much again is not."""
    layout = BlockLayout(interleaved=False, session_sd=0.03)
    found = judge(blocks(TODAY, TODAY.with_cpu(count=6e-4), interleaved=False), LIMITS, layout=layout)
    assert found.verdict is GateVerdict.INCONCLUSIVE
    assert found[Criterion.CPU].detectable_effect > 0.15
    found = judge(blocks(TODAY, TODAY.with_cpu(count=1e-3), interleaved=False), LIMITS, layout=layout)
    assert found.verdict is GateVerdict.SLOWER
    assert found.slower_operator.name == "count"


def test_a_slower_day_is_no_slower_code():
    """Half the rows per second and twice the latency on a day when the machine was half as fast; the CPU time per row,
    normalised by its speed, stayed."""
    tired = replace(TODAY, throughput_per_s=TODAY.throughput_per_s / 2, latency_ms=2 * TODAY.latency_ms)
    seen = blocks(TODAY, tired, interleaved=False)
    stored = judge(seen, LIMITS, layout=BlockLayout(interleaved=False))
    assert stored.verdict is GateVerdict.INCONCLUSIVE
    assert stored[Criterion.THROUGHPUT].verdict is GateVerdict.INCONCLUSIVE
    assert stored[Criterion.THROUGHPUT].effect == pytest.approx(-0.5, abs=0.02), "it is told all the same"
    in_turns = judge(blocks(TODAY, tired), LIMITS)
    assert in_turns[Criterion.THROUGHPUT].verdict is GateVerdict.SLOWER, "in turns both had the same day"


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_blocks_are_inconclusive(count):
    """Nothing can be tested with fewer than two of each version."""
    found = judge(blocks(TODAY, TODAY)[:count], LIMITS)
    assert found.verdict is GateVerdict.INCONCLUSIVE
    assert found[Criterion.CPU].detectable_effect == math.inf


@pytest.mark.long
def test_unchanged_code_is_seldom_called_slower():
    """Of 200 gates on a shared machine at most a twentieth may be (here: 9, the 95 % bound of 2.5 %)."""
    called = sum(
        judge(blocks(TODAY, TODAY, preset=Preset.SHARED, seed=seed), LIMITS).verdict is GateVerdict.SLOWER
        for seed in range(200)
    )
    assert called <= 9


@pytest.mark.long
def test_the_detectable_effect_is_found_as_often_as_it_promises():
    """80 % power, give or take what 100 gates can show (three standard deviations)."""
    seen = [judge(blocks(TODAY, TODAY, preset=Preset.SHARED, seed=seed), LIMITS) for seed in range(40)]
    detectable = sorted(found[Criterion.CPU].detectable_effect for found in seen)[20]
    slower = TODAY.with_cpu(**{name: cost * (1 + detectable) for name, cost in TODAY.cpu_s.items()})
    found = [judge(blocks(TODAY, slower, preset=Preset.SHARED, seed=1000 + seed), LIMITS) for seed in range(100)]
    assert 68 <= sum(each[Criterion.CPU].verdict is GateVerdict.SLOWER for each in found) <= 92


@pytest.mark.parametrize(
    "candidate",
    [
        pytest.param({"source": 1e-4, "parse": 2e-4, "count": 7e-4}, id="moved to another operator"),
        pytest.param({"source": 1e-4, "parse": 1e-4, "count": 6e-4}, id="less in all"),
        pytest.param({"source": 1e-4, "count": 9e-4}, id="one operator took another one's work over"),
        pytest.param({"source": 1.3e-4, "read": 4e-4, "count": 5e-4}, id="renamed"),
    ],
)
def test_work_that_moved_is_no_slowdown(candidate):
    """The job does not take longer, whatever one of its operators does."""
    judged = judge(blocks(Version(), Version(cpu_s=candidate)), GateLimits(max_slowdown=0.05))
    assert judged[Criterion.CPU].verdict is GateVerdict.PASS
    assert judged[Criterion.OPERATOR].effect >= 0.02, "one of them does more"
    assert judged.verdict is GateVerdict.PASS


def test_what_grew_by_more_than_others_shrank_is_a_slowdown():
    """And the operator that grew is named, not a renamed one."""
    candidate = Version(cpu_s={"source": 1e-4, "read": 3.9e-4, "count": 7e-4})
    judged = judge(blocks(Version(), candidate), GateLimits())
    assert judged.verdict is GateVerdict.SLOWER
    assert judged.slower_operator is not None
    assert judged.slower_operator.name == "count"


def with_own_noise(made, seed):
    """Let every operator of a block vary by 5 % of its own."""
    drawn = np.random.default_rng(seed)

    def varied(block):
        factors = {name: math.exp(drawn.normal(0, 0.05)) for name in block.windows[0].operators}

        def of(seen):
            operators = {name: replace(each, cpu_s=each.cpu_s * factors[name]) for name, each in seen.operators.items()}
            return replace(seen, operators=operators)

        return replace(block, windows=tuple(map(of, block.windows)), probe=tuple(map(of, block.probe)))

    return [varied(block) for block in made]


@pytest.mark.long
def test_the_interval_of_the_operator_that_grew_the_most_is_one_of_many():
    """Its lower end is above zero as seldom as the others' are, though it was chosen as the largest of eight."""
    version = Version(cpu_s={f"operator {number}": 1e-4 for number in range(8)})
    judged = [judge(with_own_noise(blocks(version, version), seed), GateLimits()) for seed in range(100)]
    assert sum(each[Criterion.OPERATOR].low > 0 for each in judged) <= 10
