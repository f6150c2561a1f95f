"""Throttling: tasks that are late at 90 % of their throughput are offered the rate at which their probes were not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profiler.experiment.observation import Measurement
from profiler.experiment.rounds import Decision, Round
from profiler.job.configuration import Configuration
from profiler.questions.search.policies.incumbent import Search
from profiler.questions.search.policies.policy import SearchContext
from profiler.questions.search.policies.stepwise.platform_capability import late_is_far_ahead, throttle
from tests.scenarios import FAST, SLOW, WAITS, outcome, window

ONE_EACH = dict.fromkeys(WAITS.names, 1)
MANY = dict.fromkeys(WAITS.names, 3)


def searched(*rounds):
    """Return a search with these rounds behind it, of which the first is the incumbent."""
    search = Search(SearchContext(WAITS, slots=20, cores=2, nodes=1))
    search.rounds.extend(rounds)
    list(search.decide(rounds[0], "", accepted=True))
    return search


def probed(round_, kept_per_s):
    """Return a round whose probes kept the latency up to a rate."""
    return replace(round_, measurement=replace(round_.measurement, kept_per_s=kept_per_s))


def late(tasks, throughput, kept_per_s, *, number=1):
    """Build a round that is late at 90 % of its throughput."""
    return probed(outcome(tasks, [throughput] * 10, number=number, latency=SLOW), kept_per_s)


def in_time(tasks, throughput, *, number=1):
    """Build a round that is in time at 90 % of its throughput."""
    return probed(outcome(tasks, [throughput] * 10, number=number), 0.9 * throughput)


def as_written(round_):
    """Return a round of the job as it runs today."""
    return replace(round_, trial=replace(round_.trial, fused=True))


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
            measurement = Measurement(
                move.configuration,
                rate,
                (window(rate),) * 10,
                latency_ms=latency,
                kept_per_s=rate if rate <= most_per_s else None,
            )
            answer = Round(len(search.rounds) + 1, move, measurement)


def test_the_rate_that_the_probes_kept_is_offered():
    """One round is enough: the probes were right."""
    search = searched(late(ONE_EACH, 1000.0, 700.0))
    assert throttled(search, 720) == [700]
    assert search.incumbent.configuration.offered_per_s == 700


@pytest.mark.parametrize(("most_per_s", "tried"), [(600, [700, 595]), (500, [700, 595, 506]), (510, [700, 595, 506])])
def test_a_rate_that_a_whole_round_does_not_keep_is_lowered(most_per_s, tried):
    """A probe of three windows may have been lucky."""
    search = searched(late(ONE_EACH, 1000.0, 700.0))
    assert throttled(search, most_per_s) == tried


def test_the_late_round_that_keeps_the_latency_at_the_highest_rate_is_throttled():
    """That need not be the one that is the fastest under stress."""
    search = searched(late(ONE_EACH, 1000.0, 700.0), late(MANY, 1100.0, 500.0, number=2))
    throttled(search, 2000)
    assert search.incumbent.configuration == Configuration.of(ONE_EACH).throttled(700)


@pytest.mark.parametrize(("kept_per_s", "tried"), [(600.0, [600]), (450.0, []), (None, [])])
def test_it_has_to_be_more_than_what_is_in_time_by_itself(kept_per_s, tried):
    """One task each keeps the latency at 450 rows/s: less than that, or hardly more, gains nothing."""
    search = searched(in_time(ONE_EACH, 500.0), late(MANY, 1000.0, kept_per_s, number=2))
    assert throttled(search, 2000) == tried


def test_what_was_tried_is_not_tried_again():
    """The method may throttle twice: before other tasks are tried, and in the end."""
    search = searched(late(ONE_EACH, 1000.0, 700.0))
    assert throttled(search, 720) == [700]
    assert throttled(search, 720) == []


def test_own_tasks_are_throttled_where_todays_job_is_faster_and_late_too():
    """The job as written is none that the method could offer less; what it tried itself is."""
    today = as_written(late(MANY, 2000.0, 1500.0))
    search = searched(late(ONE_EACH, 1000.0, 400.0, number=2), today)
    assert throttled(search, 500) == [400]
    assert search.incumbent.configuration == Configuration.of(ONE_EACH).throttled(400)


def test_rates_below_what_todays_job_does_in_time_are_not_tried():
    """It would be the answer all the same."""
    today = as_written(in_time(MANY, 700.0))
    assert throttled(searched(late(ONE_EACH, 1000.0, 600.0, number=2), today), 2000) == []


def test_todays_job_alone_is_not_throttled():
    """A warm start may have measured nothing else."""
    assert throttled(searched(as_written(late(MANY, 1000.0, 500.0))), 500) == []


@pytest.mark.parametrize(("kept_per_s", "is_far"), [(1000.0, True), (800.0, False)])
def test_late_tasks_are_far_ahead_where_they_keep_the_latency_at_twice_the_rate(kept_per_s, is_far):
    """Then they are throttled at once, before other tasks are tried."""
    search = searched(in_time(ONE_EACH, 500.0), late(MANY, 3000.0, kept_per_s, number=2))
    assert late_is_far_ahead(search) is is_far
