"""Verification: the answer as it would run in production, with long batches at 95 % of its rate."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.experiment.constraint import LatencyConstraint
from profiler.experiment.events import VerificationStarted, WindowSeen
from profiler.experiment.observation import Latency
from profiler.job.topology import Cost, Operator, Source, Topology
from profiler.questions.search.policies.policy import Parameters
from profiler.questions.search.verification import in_words, judged, verify
from tests.scenarios import outcome, window

TOPOLOGY = Topology.chain("job", Source("in"), Operator("work", cost=Cost(wait_ms=10)))


def verified(throughput_per_s, *, latency_ms=500.0, report=lambda event: None):
    engine = SimulatedEngine(SimulatedPlatform(cores_per_node=4, slots=8), seed=2)
    answer = outcome({"in": 1, "work": 4}, [throughput_per_s] * 3)
    return verify(engine, TOPOLOGY, answer, Parameters(latency_ms=latency_ms).constraint, 30.0, report)


def test_a_sound_answer_holds():
    """Four tasks of 10 ms do 400 rows/s: at 95 % of a little less the queue stays and the latency is met."""
    verification = verified(340.0)
    assert verification.passed
    assert verification.rate_per_s == pytest.approx(0.95 * 340)
    assert verification.less is None
    assert in_words(verification).startswith("holds at 323 rows/s with batches of 30 s")


def test_a_rate_that_was_too_good_lets_the_queue_grow():
    """An overestimated throughput shows when it has to be kept up."""
    verification = verified(600.0)
    assert verification.queue_grew
    assert not verification.passed
    assert verification.came_through_per_s == pytest.approx(400, rel=0.02)


def test_a_rate_that_holds_is_told_where_the_found_one_does_not():
    """95 % of 600 rows/s is more than four tasks do, and so is 80 % of it; 80 % of the 400 that came through is not."""
    verification = verified(600.0)
    assert not verification.passed
    assert verification.less.passed
    assert verification.less.rate_per_s == pytest.approx(0.8 * 400, rel=0.02)
    assert in_words(verification).startswith(f"it holds at {verification.less.rate_per_s:,.0f} rows/s")
    assert ", not at 570 rows/s with batches of 30 s: " in in_words(verification)


def test_the_second_try_goes_on_with_the_job_that_runs():
    """A job that has run for a minute needs no other to warm up: three batches in all, of one deployment."""

    class Counting(SimulatedEngine):
        deployed = 0

        def deploy(self, *told, **more):
            self.deployed += 1
            return super().deploy(*told, **more)

    engine = Counting(SimulatedPlatform(cores_per_node=4, slots=8), seed=2)
    seen = []
    answer = outcome({"in": 1, "work": 4}, [600.0] * 3)
    verification = verify(engine, TOPOLOGY, answer, Parameters().constraint, 30.0, seen.append)
    assert verification.less is not None
    assert engine.deployed == 1
    assert sum(isinstance(event, WindowSeen) for event in seen) == 3


def test_a_tight_constraint_is_violated():
    """The latency of production batches counts, not that of the search."""
    verification = verified(340.0, latency_ms=5.0)
    assert not verification.latency_met
    assert "latency constraint is violated" in in_words(verification)
    assert in_words(verification).endswith(", nor at 272; offer less or give it more slots")


def test_a_latency_that_no_row_told_is_said_to_be_unknown():
    """It is no violation, and no figure either."""
    unknown = Latency(math.nan, math.nan, math.nan, math.nan)
    seen = replace(window(100.0, latency=unknown), offered_per_s=100.0)
    verification = judged([seen], Parameters().constraint, 100.0, 30.0)
    assert verification.passed
    assert "no row told its latency" in in_words(verification)


@pytest.mark.parametrize(
    ("quantile", "said"), [(0.5, "p50 50 ms"), (0.9, "p95 95 ms"), (0.95, "p95 95 ms"), (0.99, "p99 99 ms")]
)
def test_the_quantile_that_the_constraint_bounds_is_told(quantile, said):
    """The verdict is by that one; of one that is not known, by the next higher."""
    seen = replace(window(100.0, latency=Latency(60.0, 50.0, 95.0, 99.0)), offered_per_s=100.0)
    verification = judged([seen], LatencyConstraint(97.0, quantile), 100.0, 30.0)
    assert verification.latency_quantile == quantile
    assert verification.passed == (quantile < 0.99)
    assert said in in_words(verification)


def test_windows_last_as_long_as_production_batches():
    """The deployment's windows are the production batches."""
    events = []
    verified(340.0, report=events.append)
    assert isinstance(events[0], VerificationStarted)
    windows = [event.observation for event in events if isinstance(event, WindowSeen)]
    assert [window.duration_s for window in windows] == pytest.approx([30.0] * 2, rel=0.1)
