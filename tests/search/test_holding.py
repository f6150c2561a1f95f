"""The rate that an answer holds: long batches at a handful of rates, and what is said of them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.experiment.clock import Deadline
from profiler.experiment.constraint import LatencyConstraint
from profiler.experiment.disturbance import Disturbance
from profiler.experiment.events import VerificationStarted, WindowSeen
from profiler.experiment.latency_rows import as_text
from profiler.experiment.observation import Latency
from profiler.job.topology import Cost, Operator, Source, Topology
from profiler.questions.search.holding import Basis, UsualSpeed, rate_of_probes, rate_that_holds
from profiler.questions.search.policies.policy import Parameters
from profiler.questions.search.verification import judged, latency_in_words
from tests.scenarios import SLOW, outcome, window

TOPOLOGY = Topology.chain("job", Source("in"), Operator("work", cost=Cost(wait_ms=10)))
TASKS = {"in": 1, "work": 4}


class Counting(SimulatedEngine):
    """A simulated engine of four cores that counts its deployments."""

    deployed = 0

    def __init__(self):
        super().__init__(SimulatedPlatform(cores_per_node=4, slots=8), seed=2)

    def deploy(self, *told, **more):
        self.deployed += 1
        return super().deploy(*told, **more)


def holding(throughput_per_s, *, latency_ms=500.0, engine=None, batch_s=30.0, **more):
    """Find what four tasks of 10 ms hold, which do 400 rows/s, after a search that saw this throughput."""
    constraint = LatencyConstraint(latency_ms, 0.95)
    answer = outcome(TASKS, [throughput_per_s] * 3)
    return rate_that_holds(engine or Counting(), TOPOLOGY, answer, constraint, batch_s, **more)


@pytest.mark.parametrize("throughput_per_s", [340.0, 400.0, 600.0])
def test_the_rate_is_what_the_job_does_whatever_the_search_saw(throughput_per_s):
    """A search may have met a faster machine, or a slower one."""
    found = holding(throughput_per_s, latency_ms=5000.0)
    assert found.rate_per_s == pytest.approx(400, rel=0.06)
    assert found.fails_at_per_s > found.rate_per_s
    assert found.basis is Basis.PRODUCTION


def test_a_tight_constraint_gives_a_lower_rate():
    """The latency grows long before the queue does."""
    tight = holding(400.0, latency_ms=25.0)
    assert tight.rate_per_s < 0.95 * holding(400.0, latency_ms=5000.0).rate_per_s
    assert tight.deciding.latency_ms.p95 <= 25


def test_a_constraint_that_no_rate_keeps_gives_none():
    """A row waits 10 ms however few there are; the batch that is told is the one of the lowest rate."""
    found = holding(400.0, latency_ms=5.0)
    assert found.rate_per_s is None
    assert not found.deciding.latency_met
    assert found.deciding.rate_per_s == min(probe.rate_per_s for probe in found.probes)


def test_all_rates_are_tried_on_one_deployment():
    """To deploy it anew for every rate would take longer than the batches."""
    engine = Counting()
    assert len(holding(400.0, engine=engine).probes) > 2
    assert engine.deployed == 1


def test_half_a_minute_stands_for_a_longer_batch():
    """Nobody waits for half an hour of batches; the engine weighs their latencies."""
    events = []
    found = holding(400.0, batch_s=300.0, report=events.append)
    windows = [event.observation for event in events if isinstance(event, WindowSeen)]
    assert [each.duration_s for each in windows] == pytest.approx([30.0] * len(windows), rel=0.1)
    assert found.batch_s == 300
    assert {event.batch_s for event in events if isinstance(event, VerificationStarted)} == {300.0}


def test_no_batch_is_begun_that_would_end_too_late():
    """The first one is run in any case: every profile has a rate."""
    over = Deadline.within(0.0)
    assert len(holding(340.0, deadline=over).probes) == 1


def test_the_first_batch_of_a_deployment_counts_only_where_it_held():
    """A query that is new is slower than it is going to be."""
    events = []
    found = holding(600.0, report=events.append)
    assert len([event for event in events if isinstance(event, WindowSeen)]) == len(found.probes) + 1


def test_a_throttled_answer_is_tried_at_its_rate_first():
    events = []
    answer = outcome(TASKS, [300.0] * 3)
    throttled = replace(
        answer, measurement=replace(answer.measurement, configuration=answer.configuration.throttled(200.0))
    )
    found = rate_that_holds(Counting(), TOPOLOGY, throttled, Parameters().constraint, 30.0, report=events.append)
    assert next(event for event in events if isinstance(event, VerificationStarted)).rate_per_s == 200
    assert found.rate_per_s > 300, "it is not held to the rate at which its round was measured"


def test_without_time_the_probes_of_the_round_tell_the_rate():
    """They were short, and say so."""
    answer = outcome(TASKS, [400.0] * 3)
    kept = replace(answer, measurement=replace(answer.measurement, kept_per_s=360.0))
    found = rate_of_probes(kept, Parameters().constraint)
    assert (found.rate_per_s, found.basis, found.deciding) == (360, Basis.PROBE, None)
    late = outcome(TASKS, [400.0] * 3, latency=SLOW)
    assert rate_of_probes(late, Parameters().constraint).rate_per_s is None


def test_a_latency_that_no_row_told_is_said_to_be_unknown():
    """It is no violation, and no figure either."""
    unknown = Latency(math.nan, math.nan, math.nan, math.nan)
    seen = replace(window(100.0, latency=unknown), offered_per_s=100.0)
    verification = judged([seen], Parameters().constraint, 100.0, 30.0)
    assert verification.passed
    assert latency_in_words(verification) == "no row told its latency"


@pytest.mark.parametrize(
    ("quantile", "said"), [(0.5, "p50 50 ms"), (0.9, "p95 95 ms"), (0.95, "p95 95 ms"), (0.99, "p99 99 ms")]
)
def test_the_quantile_that_the_constraint_bounds_is_told(quantile, said):
    """The verdict is by that one; of one that is not known, by the next higher."""
    seen = replace(window(100.0, latency=Latency(60.0, 50.0, 95.0, 99.0)), offered_per_s=100.0)
    verification = judged([seen], LatencyConstraint(97.0, quantile), 100.0, 30.0)
    assert verification.latency_quantile == quantile
    assert verification.passed == (quantile < 0.99)
    assert latency_in_words(verification) == said


def test_the_thousandth_row_is_told_where_it_is_known():
    """A constraint on 99.9 % is one on 99 % only in what older versions stored."""
    seen = replace(window(100.0, latency=Latency(60.0, 50.0, 95.0, 99.0, 140.0)), offered_per_s=100.0)
    assert not judged([seen], LatencyConstraint(130.0, 0.999), 100.0, 30.0).latency_met
    assert "p99.9 140 ms" in latency_in_words(judged([seen], LatencyConstraint(150.0, 0.999), 100.0, 30.0))


def test_the_time_since_a_message_was_due_is_told_beside_the_one_since_it_was_read():
    """The constraint bounds the latter; where the queue grows, the former only tells for how long one has looked."""
    rows = as_text(np.full(100, 640.0), np.ones(100))
    seen = replace(window(100.0), offered_per_s=100.0, end_to_end_rows=rows)
    verification = judged([seen], LatencyConstraint(500.0, 0.95), 100.0, 30.0)
    assert verification.passed
    assert "p95 40 ms (since due 64" in latency_in_words(verification)
    growing = judged([replace(seen, offered_per_s=200.0)], LatencyConstraint(500.0, 0.95), 200.0, 30.0)
    assert growing.end_to_end_ms is None


class Machine:
    """An engine whose machine has another speed, and other programs, in every batch; the job feels both in full."""

    def __init__(self, speeds=(), taken_cores=(), capacity=1000.0):
        self.speeds, self.taken_cores, self.capacity = list(speeds), list(taken_cores), capacity
        self.rates = []

    def deploy(self, *told, **more):
        return self

    def close(self):
        """Nothing is left to end."""

    def observe(self, rate_per_s, windows):
        self.rates.append(rate_per_s)
        speed = self.speeds.pop(0) if self.speeds else 1.0
        taken = self.taken_cores.pop(0) if self.taken_cores else 0.0
        came_through = min(rate_per_s, self.capacity * speed * (1 - taken / 2))
        seen = replace(window(came_through, duration_s=30.0), offered_per_s=rate_per_s, speed_index=speed)
        yield replace(seen, cores_used=2.0 - taken, disturbance=Disturbance(cores=2, other_cores=taken))


def on_a_machine(machine, **more):
    answer = outcome(TASKS, [1000.0] * 3)
    return rate_that_holds(machine, TOPOLOGY, answer, LatencyConstraint(500.0, 0.95), 30.0, **more)


@pytest.mark.parametrize("speed", [0.8, 1.25])
def test_the_rate_is_that_of_the_machine_at_its_usual_speed(speed):
    """One that is a fifth slower than during the search holds a fifth less: the answer is about the search's."""
    found = on_a_machine(Machine(speeds=[speed] * 30), usual=UsualSpeed(1.0, 1.0))
    assert found.rate_per_s == pytest.approx(1000, rel=0.04)
    assert [probe.machine_speed for probe in found.probes] == pytest.approx([speed] * len(found.probes))


def test_a_job_that_does_not_feel_the_speed_is_taken_as_it_is():
    """One that waits does."""
    found = on_a_machine(Machine(speeds=[0.8] * 30), usual=UsualSpeed(1.0, 0.0))
    assert found.rate_per_s == pytest.approx(800, rel=0.04)


def test_the_usual_speed_is_read_off_what_was_seen():
    """Windows of the rounds and of the confirmation, whatever other programs took meanwhile."""
    slow = replace(window(100.0), speed_index=0.5, disturbance=Disturbance(cores=2, other_cores=1.0))
    fast = replace(window(100.0), speed_index=2.0)
    usual = UsualSpeed.of([], [slow, fast])
    assert usual.machine == pytest.approx(1.0)


def test_a_batch_whose_cores_others_took_is_run_again():
    """It failed for them; where they stay, it counts in the end."""
    passing = Machine(taken_cores=[0, 0, 0, 1.0, 0])
    undisturbed = on_a_machine(Machine())
    assert on_a_machine(passing).rate_per_s == pytest.approx(undisturbed.rate_per_s)
    assert len(passing.rates) > len(undisturbed.probes)
    staying = on_a_machine(Machine(taken_cores=[1.0] * 40))
    assert staying.rate_per_s == pytest.approx(500, rel=0.04)
