"""Throttling: the most that the fastest configuration can be offered within the latency, in three rounds at most."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profiler.experiment.observation import Measurement
from profiler.experiment.rounds import Decision, Round
from profiler.job.configuration import Configuration
from profiler.questions.search.policies.incumbent import Search
from profiler.questions.search.policies.policy import SearchContext
from profiler.questions.search.policies.stepwise.platform_capability import throttle
from tests.scenarios import FAST, SLOW, WAITS, outcome, window

ONE_EACH = dict.fromkeys(WAITS.names, 1)
MANY = dict.fromkeys(WAITS.names, 3)


def searched(*rounds):
    """Return a search with these rounds behind it, of which the first is the incumbent."""
    search = Search(SearchContext(WAITS, slots=20, cores=2, nodes=1))
    search.rounds.extend(rounds)
    list(search.decide(rounds[0], "", accepted=True))
    return search


def throttled(search, most_per_s):
    """Throttle a job that keeps its latency up to a rate; return the rates that were tried."""
    tried = []
    moves = throttle(search)
    answer = None
    while True:
        try:
            move = moves.send(answer)
        except StopIteration:
            return tried
        answer = None
        if not isinstance(move, Decision):
            rate = move.configuration.offered_per_s
            tried.append(round(rate))
            latency = FAST if rate <= most_per_s else SLOW
            measurement = Measurement(move.configuration, rate, (window(rate),) * 10, latency_ms=latency)
            answer = Round(len(search.rounds) + 1, move, measurement)


@pytest.mark.parametrize(
    ("most_per_s", "tried"),
    [
        (1000, [400, 800]),
        (700, [400, 800, 600]),
        (500, [400, 800, 600]),
        (300, [400, 250]),
        (150, [400, 250, 100]),
        (50, [400, 250, 100]),
    ],
)
def test_the_rate_is_found_by_halving(most_per_s, tried):
    search = searched(outcome(ONE_EACH, [1000.0] * 10, latency=SLOW))
    assert throttled(search, most_per_s) == tried
    kept = [rate for rate in tried if rate <= most_per_s]
    assert search.incumbent.configuration.offered_per_s == (max(kept) if kept else None)


def test_rates_below_what_keeps_the_latency_are_not_tried():
    """One task each does 500 rows/s within the latency: a rate below that gains nothing."""
    search = searched(outcome(ONE_EACH, [500.0] * 10), outcome(MANY, [1000.0] * 10, number=2, latency=SLOW))
    assert throttled(search, 650) == [800, 600]
    assert search.incumbent.configuration == Configuration.of(MANY).throttled(600)


def test_what_was_violated_once_is_not_tried_again():
    """The method may throttle twice: before other tasks are tried, and in the end."""
    search = searched(outcome(ONE_EACH, [1000.0] * 10, latency=SLOW))
    assert throttled(search, 500) == [400, 800, 600]
    assert throttled(search, 500) == []


def as_written(round_):
    """Return a round of the job as it runs today."""
    return replace(round_, trial=replace(round_.trial, fused=True))


def test_the_fastest_tasks_are_throttled_where_todays_job_is_faster_and_late_too():
    """The job as written is none that the method could offer less; what it tried itself is."""
    today = as_written(outcome(MANY, [2000.0] * 10, latency=SLOW))
    search = searched(outcome(ONE_EACH, [1000.0] * 10, number=2, latency=SLOW), today)
    assert throttled(search, 500) == [400, 800, 600]
    assert search.incumbent.configuration == Configuration.of(ONE_EACH).throttled(400)


def test_rates_below_what_todays_job_does_in_time_are_not_tried():
    """It would be the answer all the same."""
    search = searched(outcome(ONE_EACH, [1000.0] * 10, number=2, latency=SLOW), as_written(outcome(MANY, [700.0] * 10)))
    assert throttled(search, 500) == [800]


def test_todays_job_alone_is_not_throttled():
    """A warm start may have measured nothing else."""
    assert throttled(searched(as_written(outcome(MANY, [1000.0] * 10, latency=SLOW))), 500) == []
