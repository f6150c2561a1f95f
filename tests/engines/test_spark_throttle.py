"""Stress without drowning: a throttle before a job that is played by a queue."""

from __future__ import annotations

import contextlib
import threading
from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiler.engines.spark.load.throttle import (
    FEWEST_SAMPLES,
    HIGH_S,
    LOOK_S,
    LOST_S,
    PATIENCE_S,
    SILENT_S,
    Arrivals,
    Offered,
    Throttle,
    ThrottleThread,
)
from profiler.errors import ProfileError

TICK_S = 0.1


class Job:
    """A queue that lets rows out at a capacity, a while after they were sent; it may stall now and then."""

    def __init__(self, capacity_per_s: float, delay_s: float = 0.2, *, deaf_until_s: float = 0.0) -> None:
        self.capacity_per_s = capacity_per_s
        self.delay_s = delay_s
        self.deaf_until_s = deaf_until_s
        self.sent = Offered()
        self.out = 0.0
        self.history: deque[tuple[float, float]] = deque([(-1.0, 0.0)])
        self.most_under_way = 0.0

    def step(self, now_s: float, *, stalled: bool = False) -> None:
        if not stalled and now_s >= self.deaf_until_s:
            self.out = min(self.out + self.capacity_per_s * TICK_S, self.sent.rows(now_s - self.delay_s))
        self.history.append((now_s, self.out))

    def arrivals(self, now_s: float) -> Arrivals:
        newest = self._due_of(self.out, now_s)
        earlier_out = next(out for at_s, out in reversed(self.history) if at_s <= now_s - LOOK_S + 1e-9)
        samples = FEWEST_SAMPLES if self.out > earlier_out else 0
        return Arrivals(samples, newest, self._due_of(earlier_out, now_s))

    def _due_of(self, rows: float, now_s: float) -> float:
        low, high = 0.0, now_s
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if self.sent.rows(middle) < rows - 1e-6 else (low, middle)
        return high


class InBatches(Job):
    """Rows come out by the batch only, as a Python operator with many tasks gives them."""

    def __init__(self, capacity_per_s: float, batch: int) -> None:
        super().__init__(capacity_per_s)
        self.batch = batch
        self.done = 0.0

    def step(self, now_s: float, *, stalled: bool = False) -> None:
        self.done = min(self.done + self.capacity_per_s * TICK_S, self.sent.rows(now_s - self.delay_s))
        self.out = self.done // self.batch * self.batch
        self.history.append((now_s, self.out))


def play(
    job: Job, throttle: Throttle, seconds: float, *, stall: tuple[float, float] = (0.0, 0.0)
) -> list[tuple[float, float]]:
    """Run throttle and job; give time and rows that have come out."""
    seen = []
    job.sent.change(0.0, throttle.open(0.0))
    for tick in range(1, round(seconds / TICK_S) + 1):
        now_s = tick * TICK_S
        job.step(now_s, stalled=stall[0] <= now_s < stall[1])
        job.sent.change(now_s, throttle.look(now_s, job.arrivals(now_s)))
        if throttle.counted_from_s is not None:
            job.most_under_way = max(job.most_under_way, job.sent.rows(now_s) - job.out)
        seen.append((now_s, job.out))
    return seen


def rate_of(seen: list[tuple[float, float]], last_s: float) -> float:
    (start_s, before), (end_s, after) = seen[-round(last_s / TICK_S) - 1], seen[-1]
    return (after - before) / (end_s - start_s)


def held(throttle: Throttle, at_s: float) -> float:
    return float(throttle.held_rows(np.array([at_s]))[0])


def test_rows_are_counted_over_changes_of_the_rate():
    """Before the first change nothing is sent."""
    offered = Offered()
    assert offered.rows(5.0) == 0
    offered.change(10.0, 100.0)
    offered.change(12.0, 0.0)
    offered.change(13.0, 10.0)
    assert offered.rows_at(np.array([9.0, 11.0, 12.5, 15.0])).tolist() == [0, 100, 200, 220]


def test_a_rate_that_the_job_takes_is_sent_as_it_is():
    """Nothing is held back, and it counts as soon as rows come out."""
    throttle = Throttle(1000.0, sample_every=4, capacity_per_s=1000.0)
    seen = play(Job(2000.0), throttle, 10)
    assert throttle.counted_from_s is not None
    assert throttle.counted_from_s < 1.0
    assert held(throttle, 10.0) == 0
    assert rate_of(seen, 5) == pytest.approx(1000, rel=0.02)


@pytest.mark.parametrize("guess_per_s", [0.0, 40.0, 1000.0])
def test_a_job_that_gives_rows_by_the_batch_is_sent_enough_for_one(guess_per_s):
    """What is under way and not yet a batch must not look like a backlog, however little the job seems to take."""
    job = InBatches(1000.0, batch=96)
    throttle = Throttle(5000.0, sample_every=1, capacity_per_s=guess_per_s, buffered_rows=96)
    seen = play(job, throttle, 40)
    assert rate_of(seen, 10) > 950
    assert job.sent.rows(40.0) - job.out < 1.5 * HIGH_S * 1000 + 2 * 96


@settings(max_examples=15, deadline=None)
@given(st.floats(50, 50_000), st.floats(1.3, 40), st.floats(0.0, 5.0))
def test_an_overloaded_job_is_kept_busy_and_not_drowned(capacity, overload, guess):
    """Whatever was guessed of its capacity: it shows its full throughput, with little more than HIGH_S under way."""
    job = Job(capacity)
    throttle = Throttle(overload * capacity, sample_every=1, capacity_per_s=guess * capacity)
    seen = play(job, throttle, 40)
    assert rate_of(seen, 10) == pytest.approx(capacity, rel=0.02)
    recent = job.sent.rows(40.0) - job.out
    assert recent < 1.5 * HIGH_S * capacity


def test_what_is_held_back_counts_as_offered():
    """Sent and held back make up the nominal rate since it counts: the queue of an open loop."""
    job, throttle = Job(100.0), Throttle(500.0, sample_every=1)
    play(job, throttle, 30)
    counted_s = throttle.counted_from_s
    assert counted_s is not None
    sent = job.sent.rows(30.0) - job.sent.rows(counted_s)
    assert held(throttle, 30.0) == pytest.approx(500 * (30 - counted_s) - sent)
    assert held(throttle, 30.0) > held(throttle, 20.0) > held(throttle, counted_s) == 0


def test_an_unknown_job_is_approached_from_below():
    """Twenty times too much is never sent, not even for a moment."""
    job, throttle = Job(100.0), Throttle(2000.0, sample_every=1)
    play(job, throttle, 20)
    assert job.most_under_way < 2.5 * HIGH_S * 100


def test_a_slow_start_is_not_taken_for_the_capacity():
    """A job that needs eight seconds before its first row counts from when its rows come out at their full rate."""
    throttle = Throttle(2800.0, sample_every=4, capacity_per_s=90.0)
    seen = play(Job(2400.0, deaf_until_s=8.0), throttle, 25)
    assert throttle.counted_from_s is not None
    assert 8.0 < throttle.counted_from_s < 16.0
    after = [out for at_s, out in seen if at_s >= throttle.counted_from_s]
    assert (after[30] - after[0]) / 3.0 > 0.7 * 2400


def test_a_passing_stall_is_caught_up():
    """As from a queue: nothing that was held back stays held back."""
    throttle = Throttle(1000.0, sample_every=4, capacity_per_s=1000.0)
    job = Job(2000.0)
    seen = play(job, throttle, 30, stall=(10.0, 13.0))
    assert held(throttle, 13.0) > 0
    assert held(throttle, 30.0) == pytest.approx(0, abs=60)
    assert seen[-1][1] == pytest.approx(30_000, rel=0.03)


def test_a_closed_throttle_knows_when_it_sent_last():
    """What was sent before must come out before the next measurement; nothing was sent since."""
    throttle = Throttle(1000.0, sample_every=1, capacity_per_s=100.0)
    throttle.open(0.0)
    assert throttle.sent_until_s(2.0) == 2.0
    throttle.look(3.0, Arrivals(FEWEST_SAMPLES, 0.1, 0.05))
    assert throttle.sent_until_s(9.0) == 3.0


def test_a_job_whose_output_tells_nothing_gets_everything():
    """After some patience, and at once where that is known."""
    throttle = Throttle(10_000.0, sample_every=16)
    assert throttle.open(0.0) < 10_000
    assert throttle.look(PATIENCE_S + 0.1, Arrivals()) == 10_000
    assert throttle.blind
    assert Throttle(10_000.0, sample_every=16, blind=True).open(0.0) == 10_000


def test_a_job_that_falls_silent_gets_everything_in_the_end():
    """One that drops duplicates shows its capacity first, and nothing once it knows all rows."""
    throttle = Throttle(500.0, sample_every=1, capacity_per_s=400.0)
    throttle.open(0.0)
    for tenth in range(1, 20):
        throttle.look(tenth / 10, Arrivals(20, tenth / 10 - 0.1, tenth / 10 - 0.6))
    silent = Arrivals(0, 1.8, 1.8)
    sent = [throttle.look(2 + tenth / 10, silent) for tenth in range(int(10 * SILENT_S) + 2)]
    assert 0.0 in sent[:20], "it is held back first"
    assert throttle.blind
    assert sent[-1] >= 500


def test_rows_that_were_never_sent_do_not_close_the_throttle_for_good():
    """A generator that lags drops what it owes when it is told to hold back; what it dropped never comes out."""
    throttle = Throttle(2000.0, sample_every=1, capacity_per_s=1000.0)
    throttle.open(0.0)
    rates = [
        throttle.look(now_s, Arrivals(FEWEST_SAMPLES, min(now_s, 0.3), min(now_s, 0.3) - LOOK_S))
        for now_s in np.arange(TICK_S, 12, TICK_S).tolist()
    ]
    closed = rates.index(0.0)
    again = next(index for index, rate in enumerate(rates) if index > closed and rate > 0)
    assert (again - closed) * TICK_S < LOST_S + 1
    assert 0.0 in rates[again:], "and it is closed again where still nothing comes out"


@pytest.mark.parametrize(
    ("error", "is_told"), [(ZeroDivisionError("no rows"), True), (ProfileError("It died."), False)]
)
def test_a_thread_that_breaks_says_so_to_those_who_wait(error, is_told):
    """Its thread would end unheard, and windows that wait for its rate would never come.

    That the generator died is told to those who wait for its reports, after the broker whose end it may have died of.
    """
    broken = threading.Event()

    def arrivals():
        broken.set()
        raise error

    throttle_thread = ThrottleThread(Throttle(100.0, 1), lambda _: None, arrivals, every_s=0.001)
    throttle_thread.require_working()
    throttle_thread.start()
    assert broken.wait(10)
    throttle_thread.stop()
    with pytest.raises(ZeroDivisionError, match="no rows") if is_told else contextlib.nullcontext():
        throttle_thread.require_working()


def counted_from_s(throttle: Throttle, job: Job) -> float:
    play(job, throttle, 10.0)
    assert throttle.counted_from_s is not None
    return throttle.counted_from_s


def test_a_job_that_was_under_stress_before_counts_as_soon_as_it_is_back_there() -> None:
    """It need not be seen to rise no more: in turns of a few windows those seconds would be most of what is lost."""
    new = counted_from_s(Throttle(2500.0, 1, 1000.0), Job(1000.0))
    known = counted_from_s(Throttle(2500.0, 1, 1000.0, settled_per_s=1000.0), Job(1000.0))
    assert known < new - 1.0
    assert known < 1.5


def test_a_job_that_takes_more_than_before_is_waited_for() -> None:
    """What was known of it does not hold any more."""
    faster = counted_from_s(Throttle(4000.0, 1, 1000.0, settled_per_s=1000.0), Job(2000.0))
    assert faster >= counted_from_s(Throttle(4000.0, 1, 1000.0), Job(2000.0)) - 0.5


def test_a_rate_below_what_it_took_before_counts_once_rows_come_out() -> None:
    """As in a latency probe after stress."""
    throttle = Throttle(600.0, 1, 1000.0, settled_per_s=1000.0)
    assert counted_from_s(throttle, Job(1000.0)) < 1.5
    assert not throttle.held_back


def test_a_new_job_of_many_python_tasks_is_soon_filled_and_then_approached() -> None:
    """Every task waits for a whole batch of rows: by 20 rows a second that takes longer than all the rest."""
    job, gently = InBatches(2800.0, 100), InBatches(2800.0, 100)
    first_s, gently_s = (
        next(at_s for at_s, out in play(each, throttle, 20) if out > 0)
        for each, throttle in (
            (job, Throttle(5600.0, 1, buffered_rows=200.0)),
            (gently, Throttle(5600.0, 1)),
        )
    )
    assert first_s < 1.5
    assert first_s < gently_s / 2


def test_a_new_job_that_says_nothing_gets_no_more_than_fills_it() -> None:
    """It may be a slow one, for which this is a backlog of seconds already."""
    job = Job(100.0, deaf_until_s=20.0)
    play(job, Throttle(5600.0, 1, buffered_rows=200.0), 10)
    assert job.sent.rows(10.0) < 200 + 10 * 20 + 50
