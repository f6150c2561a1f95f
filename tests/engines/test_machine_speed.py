"""The speed of the machine by a small fixed piece of work."""

from __future__ import annotations

import threading

import pytest

from profiler.engines.spark.jvm.machine_speed import FIRST_SAMPLES, RandomPlaces, SpeedIndex


def filled(*costs_s: float) -> SpeedIndex:
    """An index that took a sample of these costs every second, from second 0 on."""
    index = SpeedIndex()
    for second, cost in enumerate(costs_s):
        index.add(float(second), cost)
    return index


def test_the_first_seconds_are_normal():
    """Later ones are compared with them: twice the CPU time is half the speed."""
    index = filled(*[0.002] * FIRST_SAMPLES, 0.004, 0.004, 0.001)
    assert index.between(0, FIRST_SAMPLES) == pytest.approx(1.0)
    assert index.between(FIRST_SAMPLES, FIRST_SAMPLES + 2) == pytest.approx(0.5)
    assert index.between(FIRST_SAMPLES + 2, FIRST_SAMPLES + 3) == pytest.approx(2.0)


def test_one_disturbed_loop_does_not_scale_the_run():
    """The reference is a median."""
    index = filled(0.02, *[0.002] * (FIRST_SAMPLES - 1), 0.002)
    assert index.between(FIRST_SAMPLES, FIRST_SAMPLES + 1) == pytest.approx(1.0)


def test_a_run_that_is_gone_on_with_keeps_its_measure():
    """Also where it is told before the first seconds are over."""
    index = filled(0.002, 0.002)
    index.compare_with(0.004)
    index.add(2.0, 0.002)
    assert index.reference_s == 0.004
    assert index.between(0, 3) == pytest.approx(2.0)


def test_a_span_without_a_sample_takes_the_one_before():
    """A short window must not be without an index."""
    index = filled(*[0.002] * FIRST_SAMPLES, 0.004)
    assert index.between(FIRST_SAMPLES + 0.1, FIRST_SAMPLES + 0.2) == pytest.approx(0.5)


def test_without_any_sample_the_speed_is_normal():
    """Nothing is known, nothing is corrected."""
    assert SpeedIndex().between(0, 1) == 1.0


def test_it_samples_in_a_thread_and_ends():
    """Closing twice is fine."""
    taken = threading.Event()

    def sample() -> float:
        taken.set()
        return 0.001

    before = threading.active_count()
    with SpeedIndex(every_s=0.001, sample=sample) as index:
        assert taken.wait(10)
    index.close()
    assert threading.active_count() == before


def test_the_work_costs_cpu_time():
    """Enough to be measured, little enough for one percent of a core."""
    work = RandomPlaces()
    assert 1e-5 < min(work() for _ in range(5)) < 0.01


def test_the_work_lies_outside_of_a_core_s_own_cache():
    """Else neighbours that take memory and caches would not be seen."""
    assert RandomPlaces().size_bytes > 8 * 2**20


def test_what_is_normal_is_told():
    """So that the indexes of two runs can be brought to one measure."""
    assert SpeedIndex().reference_s is None
    assert filled(*[0.002] * FIRST_SAMPLES, 0.004).reference_s == pytest.approx(0.002)
