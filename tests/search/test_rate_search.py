"""The search for the highest rate that holds: which rate is tried next, after what came of those before."""

from __future__ import annotations

import math

import pytest

from profiler.experiment.observation import Latency
from profiler.questions.search.rate_search import PRECISION, Bracket, next_rate
from profiler.questions.search.verification import Verification


def probe(rate, *, passed, queue_grew=False, came_through=None):
    """Build a batch at a rate."""
    return Verification(
        batch_s=30.0,
        rate_per_s=rate,
        latency_ms=Latency(50.0, 50.0, 100.0, 150.0),
        latency_quantile=0.95,
        latency_met=passed or queue_grew,
        queue_grew=queue_grew,
        came_through_per_s=rate if came_through is None else came_through,
        less=None,
        passed=passed,
    )


def batch(rate, *, latency_up_to, capacity):
    """Run a batch of a job with so much capacity, that keeps its latency up to a rate."""
    came_through = min(rate, capacity)
    grew = came_through < 0.98 * rate
    return probe(rate, passed=rate <= latency_up_to and not grew, queue_grew=grew, came_through=came_through)


def searched(start, *, latency_up_to=math.inf, capacity=math.inf, most=30):
    """Search to the end; return all batches."""
    probes = []
    while (rate := next_rate(probes, start)) is not None:
        assert len(probes) < most, "the search does not end"
        probes.append(batch(rate, latency_up_to=latency_up_to, capacity=capacity))
    return probes


@pytest.mark.parametrize("start", [950, 400, 2000])
@pytest.mark.parametrize(
    ("bounds", "highest"),
    [({"capacity": 1000.0}, 1000 / 0.98), ({"capacity": 1000.0, "latency_up_to": 620.0}, 620)],
    ids=["capacity", "latency"],
)
def test_the_highest_rate_that_holds_is_found_from_anywhere(start, bounds, highest):
    """Wherever it begins, it ends within its precision of the limit, and never above."""
    held = Bracket.of(searched(start, **bounds)).held_per_s
    assert 0.98 * highest / (1 + PRECISION) <= held <= highest


def test_a_good_first_guess_takes_a_handful_of_batches():
    """95 % of the capacity is where a profile begins."""
    assert len(searched(950, capacity=1000.0)) <= 5


def test_the_rate_that_is_announced_has_held_twice():
    probes = searched(950, capacity=1000.0)
    held = Bracket.of(probes).held_per_s
    assert sum(each.rate_per_s == held for each in probes) == 2


def test_a_rate_that_fails_the_second_time_is_given_up():
    """One batch may have been lucky."""
    lucky = [probe(900, passed=True), probe(930, passed=False), probe(900, passed=False)]
    assert Bracket.of(lucky) == Bracket(None, 900)
    assert next_rate(lucky, 900) < 900


def test_where_the_queue_grew_what_came_through_is_tried():
    """It tells how much the job can do: halving would only guess it."""
    tried = [probe(800, passed=True), probe(1600, passed=False, queue_grew=True, came_through=1200)]
    assert next_rate(tried, 800) == pytest.approx(0.99 * 1200)


def test_a_job_that_keeps_no_rate_ends_the_search():
    """A latency that is too long with hardly a row on the way is none that less load cures."""
    probes = searched(1000, latency_up_to=0.0)
    assert not any(each.passed for each in probes)
    assert probes[-1].rate_per_s >= 50
