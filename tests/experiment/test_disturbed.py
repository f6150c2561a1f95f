"""Which windows are disturbed, which of them count, and what they would have shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profiler.experiment.disturbance import Disturbance
from profiler.experiment.disturbed import (
    Cause,
    causes,
    is_disturbed,
    is_worth_more_windows,
    least_disturbed,
    undisturbed_per_s,
)
from tests.scenarios import window

CORES = 2


def beside(other_cores=0.0, *, used=1.9, throughput_per_s=100.0, **more):
    """Return a window of three seconds in which others had so many of two cores."""
    seen = Disturbance(cores=CORES, other_cores=other_cores, **more)
    return replace(window(throughput_per_s), cores_used=used, disturbance=seen)


CALM = beside(0.05)
BUSY = beside(0.6, used=1.35)


def test_others_disturb_a_job_that_would_have_used_their_cores():
    """All cores are in use and others have 0.6 of two."""
    assert causes(BUSY) == {Cause.OTHERS}
    assert causes(CALM) == frozenset()


def test_a_job_that_leaves_cores_free_loses_nothing_to_others():
    """It waits; 0.6 cores of somebody else were free."""
    assert causes(beside(0.6, used=0.5)) == frozenset()


def test_stolen_time_counts_as_others_do():
    """Who shares the host is no program of this machine, and takes its cores all the same."""
    assert causes(beside(0.0, used=1.5, stolen_cores=0.4)) == {Cause.OTHERS}


def test_nothing_is_said_of_what_nobody_counted():
    """Windows of a cluster, and those that older versions kept."""
    assert causes(window()) == frozenset()
    assert undisturbed_per_s(window(80.0), 1.0) == pytest.approx(80.0)


@pytest.mark.parametrize(
    ("seen", "cause", "is_the_job_s_own"),
    [
        ({"paged_out_mb": 30.0}, Cause.PAGING, False),
        ({"throttled_s": 1.5}, Cause.QUOTA, True),
        ({"gc_s": 1.0}, Cause.GARBAGE, True),
    ],
)
def test_what_is_the_job_s_own_is_told_and_stays(seen, cause, is_the_job_s_own):
    """To leave a window out as it collected garbage would make the job better than it is."""
    held_up = beside(**seen)
    assert causes(held_up) == {cause}
    assert is_disturbed(held_up) is not is_the_job_s_own


def test_what_cannot_be_counted_holds_nothing_up():
    """A machine without quota, collector or swap space."""
    assert causes(beside(throttled_s=None, gc_s=None, paged_out_mb=None)) == frozenset()


def test_undisturbed_it_would_have_had_the_cores_of_others():
    """Of two cores others had a half: the job would have done a third more, if it follows its cores at all."""
    slow = beside(0.5, used=1.5, throughput_per_s=75.0)
    assert undisturbed_per_s(slow, 1.0) == pytest.approx(100.0)
    assert undisturbed_per_s(slow, 0.0) == pytest.approx(75.0)


def test_undisturbed_ones_count_first_and_later_ones_before_earlier_ones():
    """Those that count keep their order; only disturbed ones are said to be left out."""
    numbered = [replace(each, start_s=number) for number, each in enumerate([CALM, BUSY, CALM, BUSY, CALM, CALM])]
    kept, left_out = least_disturbed(numbered, 3)
    assert [each.start_s for each in kept] == [2, 4, 5]
    assert [each.start_s for each in left_out] == [1, 3]
    kept, left_out = least_disturbed(numbered, 5)
    assert [each.start_s for each in kept] == [0, 2, 3, 4, 5]
    assert [each.start_s for each in left_out] == [1]


def test_a_machine_that_is_disturbed_most_of_the_time_is_not_waited_for():
    """More windows would be disturbed as well."""
    assert is_worth_more_windows([CALM, CALM, BUSY, CALM], 4)
    assert not is_worth_more_windows([CALM, BUSY, BUSY, BUSY], 4)
    assert not is_worth_more_windows([CALM, BUSY, CALM, CALM, CALM], 4)
