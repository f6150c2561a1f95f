"""What a gate's answer says beside the verdict: what it would take to tell, and what is told without failing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profiler.job.configuration import Configuration
from profiler.questions.gate.answer import Against, GateOutcome, NeededAnswer
from profiler.questions.gate.conclusion import GateCase, gate_answer
from profiler.questions.gate.drill.preparation import Drilled
from profiler.questions.gate.result import GateResult
from profiler.questions.gate.verdict import GateLimits, judge
from tests.gate.gates import Version, blocks

CASE = GateCase(
    topology="job",
    engine="spark",
    configuration=Configuration.of({"source": 1, "parse": 1, "count": 1}),
    against=Against.ITSELF,
    baseline="job",
    limits=GateLimits(),
    environment={},
    took_s=310.0,
)


def answered(candidate=Version(), case=CASE, **more):  # noqa: B008 - frozen
    seen = blocks(Version(), candidate)
    return gate_answer(case, GateResult(judge(seen, GateLimits()), tuple(seen), turn_s=20.0, **more), run="run")


def test_a_latency_that_rose_alone_is_a_warning():
    """The gate passes, and says what it saw."""
    answer = answered(replace(Version(), latency_ms=30.0))
    assert (answer.verdict, answer.exit_code) == (GateOutcome.PASS, 0)
    (warning,) = answer.warnings
    assert warning.startswith("latency p95 rose by +")
    assert warning.endswith("no operator did for certain: it fails nothing")
    assert answered().warnings == ()


@pytest.mark.parametrize(
    ("needed", "took_s", "minutes"), [(14, 310.0, 8), (14, None, None), (8, 310.0, 6), (100, 310.0, 36)]
)
def test_the_blocks_that_would_tell_come_with_the_time_of_the_whole_command(needed, took_s, minutes):
    """What this one took, and the turns that it lacks, up to the next minute."""
    drilled = Drilled("count", 0.15, share=0.5, foreseen_effect=0.1)
    answer = answered(case=replace(CASE, took_s=took_s), drilled=drilled, needed_blocks=needed)
    assert answer.needed == NeededAnswer(blocks=needed, minutes=minutes)
    assert (answer.verdict, answer.exit_code) == (GateOutcome.INCONCLUSIVE, 4)
    if needed > 8:
        asked = f"--blocks {needed}" + ("" if minutes is None else f" --budget {minutes}m")
        assert f"{asked} would find it four times in five" in answer.why


def test_a_drill_that_no_number_of_blocks_finds_says_so():
    """A longer one is what there is to try."""
    drilled = Drilled("count", 0.15, share=0.5, foreseen_effect=0.1)
    answer = answered(drilled=drilled)
    assert answer.needed is None
    assert answer.why.endswith("100 blocks of each version would not find it: a longer drill may do")
