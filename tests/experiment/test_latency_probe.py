"""The latency probe: what stress left in the queues does not count, and a rate that keeps the latency is looked for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profiler.experiment.constraint import LatencyConstraint
from profiler.experiment.latency_probe import LatencyProbe
from profiler.experiment.observation import Latency
from tests.scenarios import window

LIMIT = LatencyConstraint(500.0, 0.95)


class Job:
    """A job that keeps 500 ms up to a rate, and is late for some windows after stress."""

    def __init__(self, *, keeps_up_to, capacity=1000.0, left_by_stress=()):
        self.keeps_up_to, self.capacity = keeps_up_to, capacity
        self.left_by_stress = list(left_by_stress)
        self.rates = []
        self.windows = 0

    def observe(self, rate_per_s, windows):
        self.rates.append(round(rate_per_s))
        for _ in range(windows):
            self.windows += 1
            p95 = 100.0 if rate_per_s <= self.keeps_up_to else 900.0
            if self.left_by_stress:
                p95 = max(p95, self.left_by_stress.pop(0))
            seen = window(min(rate_per_s, self.capacity), latency=Latency(p95, p95, p95, p95))
            yield replace(seen, offered_per_s=rate_per_s)


def probed(job, *, throughput=1000.0, constraint=LIMIT):
    return LatencyProbe(job.observe, 3, constraint).below(throughput)


def test_a_rate_that_keeps_the_latency_takes_three_windows():
    job = Job(keeps_up_to=2000)
    assert probed(job).kept_per_s == 900
    assert (job.rates, job.windows) == ([900], 3)


def test_a_queue_that_stress_left_is_waited_for():
    """Three windows right after stress would show 800 ms; the job itself takes 100."""
    job = Job(keeps_up_to=2000, left_by_stress=[1500, 1200, 900, 700, 400])
    found = probed(job)
    assert found.kept_per_s == 900
    assert [each.processing_ms.p95 for each in found.windows] == [700, 400, 100]


def test_a_latency_that_does_not_fall_is_not_waited_for():
    """It is the rate's, and more windows would say the same."""
    job = Job(keeps_up_to=0)
    assert probed(job).kept_per_s is None
    assert job.windows == 3 * len(job.rates)


@pytest.mark.parametrize(("keeps_up_to", "part"), [(850, 0.8), (700, 0.8), (500, 0.4), (250, 0.8), (80, 0.7)])
def test_a_lower_rate_that_keeps_it_is_found(keeps_up_to, part):
    """By halving: near enough to tell configurations apart."""
    job = Job(keeps_up_to=keeps_up_to)
    found = probed(job)
    assert part * keeps_up_to <= found.kept_per_s <= keeps_up_to
    assert len(job.rates) == 4
    assert found.windows[0].offered_per_s == 900, "what is told is the latency at 90 %"


def test_a_machine_that_became_slower_is_probed_lower():
    """90 % of what it did is more than it does now."""
    job = Job(keeps_up_to=2000, capacity=600.0)
    assert probed(job).kept_per_s == pytest.approx(0.9 * 600)


def test_without_a_constraint_nothing_is_looked_for():
    job = Job(keeps_up_to=0)
    found = probed(job, constraint=None)
    assert (found.kept_per_s, job.rates, len(found.windows)) == (None, [900], 3)
