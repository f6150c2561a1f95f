"""Pacing: which messages are due when, with a clock that only moves when a test says so."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiler.traffic.generator.pacing import Burst, Pacer

RATES = st.one_of(st.just(0.0), st.floats(0.5, 500.0))
CHANGES = st.lists(st.tuples(RATES, st.floats(0.001, 2.0)), min_size=1, max_size=8)
"""Rates and how long each of them holds."""


def take_all(pacer: Pacer, now_s: float, limit: int = 1_000_000) -> list[float]:
    """Take everything that is due; give the times at which it was due."""
    times: list[float] = []
    while burst := pacer.due(now_s, limit):
        times += [burst.first_s + number * burst.interval_s for number in range(burst.count)]
        pacer.take(burst.count)
    return times


def paced(rate_per_s: float, start_s: float = 0.0) -> Pacer:
    pacer = Pacer(start_s)
    pacer.set_rate(rate_per_s, start_s)
    return pacer


@pytest.mark.parametrize("rate_per_s", [100, 1_000, 10_000, 100_000, 200_000, 333_333.3])
def test_an_hour_of_uneven_wake_ups_is_off_by_less_than_one_message(rate_per_s: float) -> None:
    """Sleeps that are too long or too short leave no trace in the count."""
    pacer, now_s, count = paced(rate_per_s, start_s=5_000.0), 5_000.0, 0
    for wake_up in range(3_600):
        now_s += 1.0 + 0.3 * math.sin(wake_up)
        while burst := pacer.due(now_s, 10_000_000):
            pacer.take(burst.count)
            count += burst.count
    assert abs(count - rate_per_s * (now_s - 5_000.0)) <= 1


def test_messages_are_due_one_interval_apart_from_the_start() -> None:
    """The first is due after one interval, not at once."""
    pacer = paced(4.0, start_s=10.0)
    assert pacer.next_s() == 10.25
    assert take_all(pacer, 11.0) == [10.25, 10.5, 10.75, 11.0]
    assert pacer.next_s() == 11.25


def test_a_sender_that_was_held_up_gets_the_old_times() -> None:
    """No coordinated omission: what became due during the hold-up was due then, not now."""
    pacer = paced(10.0)
    held_up = take_all(pacer, 60.0)
    assert len(held_up) == 600
    assert held_up[0] == pytest.approx(0.1)
    assert held_up == pytest.approx([0.1 * number for number in range(1, 601)])


def test_behind_is_the_age_of_the_oldest_owed_message() -> None:
    """A sender that keeps up is not behind; one that took only a part is, by the first it did not take."""
    pacer = paced(10.0)
    assert pacer.behind_s(0.05) == 0.0
    assert pacer.behind_s(2.0) == pytest.approx(1.9)
    pacer.take(10)
    assert pacer.behind_s(2.0) == pytest.approx(0.9)
    pacer.take(10)
    assert pacer.behind_s(2.0) == 0.0


def test_what_is_owed_keeps_its_times_across_a_change_of_rate() -> None:
    """A change of rate does not move what was due before it."""
    pacer = paced(2.0)
    pacer.set_rate(1.0, 2.0)
    assert take_all(pacer, 4.0) == [0.5, 1.0, 1.5, 2.0, 3.0, 4.0]


def test_a_change_of_rate_keeps_the_part_of_a_message_that_was_earned() -> None:
    """Half a message at the old rate shortens the wait for the next at the new one."""
    pacer = paced(1.0)
    pacer.set_rate(10.0, 0.5)
    assert pacer.next_s() == pytest.approx(0.55)


def test_a_planned_end_gives_an_exact_count() -> None:
    """Rate × seconds messages, however late the sender looks."""
    pacer = paced(1_000.0)
    pacer.set_rate(0.0, 2.0)
    assert pacer.rate_per_s(1.9) == 1_000.0
    assert len(take_all(pacer, 1.0)) == 1_000
    assert len(take_all(pacer, 50.0)) == 1_000
    assert pacer.rate_per_s(50.0) == 0.0
    assert pacer.next_s() == math.inf


def test_a_new_rate_replaces_a_planned_end() -> None:
    """The plan is dropped: the new rate goes on."""
    pacer = paced(10.0)
    pacer.set_rate(0.0, 2.0)
    pacer.set_rate(20.0, 1.0)
    assert len(take_all(pacer, 3.0)) == 10 + 40


def test_abandoned_messages_are_offered_but_not_due() -> None:
    """Giving up leaves the intended count as it is and the next message where it was."""
    pacer = paced(10.0)
    pacer.take(5)
    assert pacer.abandon(2.05) == 15
    assert pacer.due(2.05, 100) is None
    assert pacer.offered(2.05) == 20
    assert pacer.next_s() == pytest.approx(2.1)


def test_a_burst_is_no_longer_than_asked() -> None:
    """The sender decides how long it works before it looks at clock and commands again."""
    pacer = paced(1_000.0)
    first = pacer.due(1.0, 300)
    assert first is not None
    assert first.count == 300
    assert pacer.due(1.0, 300) == first, "nothing is taken by looking"


@settings(deadline=None)
@given(CHANGES, st.floats(0.0, 2e9))
def test_any_history_of_rates_gives_its_integral_in_order(changes: list[tuple[float, float]], start_s: float) -> None:
    """The count is the integral of the rate, the times rise, and each lies in the step that earned it."""
    pacer, now_s, integral = Pacer(start_s), start_s, 0.0
    for rate_per_s, seconds in changes:
        pacer.set_rate(rate_per_s, now_s)
        end_s = now_s + seconds
        integral += rate_per_s * (end_s - now_s)
        now_s = end_s
    times = take_all(pacer, now_s, limit=97)
    assert abs(len(times) - integral) < 1 + 1e-3
    assert len(times) == pacer.offered(now_s)
    assert all(start_s <= time_s <= now_s + 1e-6 for time_s in times)
    assert all(later - earlier > -1e-6 for earlier, later in pairwise(times))


@settings(deadline=None)
@given(CHANGES, st.lists(st.floats(0.0, 0.5), max_size=20))
def test_looking_often_or_once_gives_the_same_times(changes: list[tuple[float, float]], waits: list[float]) -> None:
    """When a sender wakes up has no influence on when messages are due."""
    often, once, now_s = Pacer(0.0), Pacer(0.0), 0.0
    for rate_per_s, seconds in changes:
        often.set_rate(rate_per_s, now_s)
        once.set_rate(rate_per_s, now_s)
        now_s += seconds
    looks = sorted(min(now_s, sum(waits[:number])) for number in range(len(waits)))
    seen = [time_s for look_s in [*looks, now_s] for time_s in take_all(often, look_s)]
    assert seen == pytest.approx(take_all(once, now_s))


@settings(deadline=None)
@given(RATES.filter(bool), st.floats(0.0, 10.0))
def test_the_message_that_was_waited_for_is_due_when_its_time_has_come(rate_per_s: float, already_s: float) -> None:
    """A sender that sleeps until `next_s` finds exactly one message: it neither spins nor skips."""
    pacer = paced(rate_per_s)
    take_all(pacer, already_s)
    burst = pacer.due(pacer.next_s(), 10)
    assert burst is not None
    assert burst.count == 1


@settings(deadline=None)
@given(st.integers(1, 500), st.floats(0.0, 1e6), st.floats(0.5, 2_000_000.0), st.floats(-1e3, 2e9))
def test_runs_stamp_every_message_with_its_millisecond(
    count: int, first_s: float, rate_per_s: float, to_epoch_s: float
) -> None:
    """Neighbours that share a millisecond are one run; together the runs are the burst."""
    burst = Burst(count, first_s, 1 / rate_per_s)
    stamps = [stamp for stamp, run in burst.runs(to_epoch_s) for _ in range(run)]
    exact_ms = [(first_s + to_epoch_s) * 1000 + number * 1000 / rate_per_s for number in range(count)]
    assert len(stamps) == count
    assert all(-0.01 < exact - stamp < 1.01 for exact, stamp in zip(exact_ms, stamps, strict=True))
    assert len({stamp for stamp, _ in burst.runs(to_epoch_s)}) == sum(1 for _ in burst.runs(to_epoch_s))
