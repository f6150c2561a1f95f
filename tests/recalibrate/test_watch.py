"""The watch of a running job: peaks are passed over, what lasts raises an alarm, and an alarm does not flicker."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from profiler.questions.recalibrate.watch import Watch, WatchedQuantity, WatchedSample, WatchLimits

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LIMITS = WatchLimits(queue_rows=1000, latency_ms=500, period_s=30)


def sample(second, queue=0.0, latency=100.0):
    return WatchedSample(NOON + timedelta(seconds=second), queue, latency)


def alarms(samples, limits=LIMITS):
    watch = Watch(limits)
    return [alarm for each in samples for alarm in watch.see(each)], watch


def steady(start, end, **more):
    return [sample(second, **more) for second in range(start, end, 3)]


def test_a_quiet_job_raises_nothing():
    """At the limit is not above it."""
    found, watch = alarms(steady(0, 300, queue=1000, latency=500))
    assert found == []
    assert watch.raised == ()


def test_a_job_that_tells_less_often_than_the_period_is_heard():
    """Its windows lie further apart than the period is long; a gap is what is longer than usual."""
    rare = [sample(second, queue=5000) for second in range(0, 300, 45)]
    (alarm,), _ = alarms(rare)
    assert alarm.quantity is WatchedQuantity.QUEUE
    assert (alarm.at - alarm.since).total_seconds() >= LIMITS.period_s


def test_a_peak_raises_nothing():
    """One window below the limit starts the count anew."""
    peaks = [*steady(0, 27, queue=5000), sample(27), *steady(30, 57, queue=5000), sample(57)]
    assert alarms(peaks)[0] == []


def test_what_lasts_for_the_period_raises_an_alarm_once():
    """And says since when, how much, and of what."""
    found, watch = alarms(steady(0, 120, queue=5000))
    (alarm,) = found
    assert (alarm.quantity, alarm.raised, alarm.value, alarm.limit) == (WatchedQuantity.QUEUE, True, 5000, 1000)
    assert (alarm.since, alarm.at) == (NOON, NOON + timedelta(seconds=30))
    assert watch.raised == (WatchedQuantity.QUEUE,)


def test_queue_and_latency_are_watched_by_themselves():
    """Either alone is enough; a latency that nobody sampled is not too high, and not low either."""
    (alarm,) = alarms(steady(0, 60, latency=900))[0]
    assert alarm.quantity is WatchedQuantity.LATENCY
    unknown = [sample(second, latency=None if second % 2 else 900) for second in range(0, 60, 3)]
    assert [each.quantity for each in alarms(unknown)[0]] == [WatchedQuantity.LATENCY]
    both, watch = alarms(steady(0, 60, queue=5000, latency=900))
    assert {each.quantity for each in both} == set(watch.raised) == {WatchedQuantity.QUEUE, WatchedQuantity.LATENCY}


def test_an_alarm_ends_only_well_below_the_limit_and_for_as_long():
    """Between the two limits it stays: that is the hysteresis."""
    raised = steady(0, 33, queue=5000)
    lingering, watch = alarms([*raised, *steady(33, 300, queue=900)])
    assert len(lingering) == 1
    assert watch.raised == (WatchedQuantity.QUEUE,)
    flickering, watch = alarms([*raised, *steady(33, 60, queue=100), sample(60, queue=900), *steady(63, 90, queue=100)])
    assert len(flickering) == 1
    ended, watch = alarms([*raised, *steady(33, 66, queue=100)])
    assert [alarm.raised for alarm in ended] == [True, False]
    assert ended[1].limit == 800
    assert watch.raised == ()


def test_after_an_end_it_may_be_raised_again():
    """As often as it happens."""
    found, _ = alarms([*steady(0, 33, queue=5000), *steady(33, 66, queue=0), *steady(66, 99, queue=5000)])
    assert [alarm.raised for alarm in found] == [True, False, True]


def test_a_pause_without_windows_starts_the_count_anew():
    """Two high windows an hour apart are no high hour."""
    assert alarms([sample(0, queue=5000), sample(3600, queue=5000)])[0] == []


def test_a_time_in_which_a_latency_is_not_known_starts_its_count_anew():
    """Windows go on meanwhile, and tell the queue: that of the latency is another count."""
    unknown = steady(3, 600, queue=5000, latency=None)
    found, _ = alarms([sample(0, queue=5000, latency=900), *unknown, *steady(600, 627, queue=5000, latency=900)])
    assert [alarm.quantity for alarm in found] == [WatchedQuantity.QUEUE]
    later, _ = alarms([sample(0, latency=900), *steady(3, 600, latency=None), *steady(600, 633, latency=900)])
    assert [(alarm.quantity, alarm.since) for alarm in later] == [
        (WatchedQuantity.LATENCY, NOON + timedelta(seconds=600))
    ]
