"""Deployments that are observed at the same time: which windows count, and who waits for whom."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from profiler.errors import ProfileError
from profiler.experiment.comparing.side_by_side import in_company, observed_together
from tests.scenarios import window

WINDOW_S = 3.0


def at(start_s, duration_s=WINDOW_S):
    """A window that began at some time."""
    return replace(window(1000.0), start_s=start_s, duration_s=duration_s)


class Told:
    """A deployment whose windows are known beforehand; one that has to wait for another's does."""

    def __init__(self, *starts_s, after=None, breaks=False):
        self.starts_s, self.breaks = starts_s, breaks
        self.after = after or {}
        """By the number of a window: what must have happened before it ends."""
        self.asked = 0
        self.ended, self.closed = threading.Event(), False
        self.begun, self.seen = ([threading.Event() for _ in starts_s] for _ in range(2))

    def observe(self, rate_per_s, windows):
        self.rate_per_s = rate_per_s
        try:
            for number, start_s in enumerate(self.starts_s):
                self.asked += 1
                self.begun[number].set()
                if number in self.after:
                    assert self.after[number].wait(10)
                if self.breaks:
                    raise ProfileError("The query died.", hint="Look at the log.")
                self.seen[number].set()
                yield at(start_s)
        finally:
            self.ended.set()

    def close(self):
        self.closed = True


def together(*deployments, windows=2):
    reported = []
    seen = observed_together(deployments, [500.0] * len(deployments), windows, reported.append)
    return [[each.start_s for each in one] for one in seen], [each.start_s for each in reported]


def test_each_has_its_windows_and_all_are_offered_the_same():
    """Whoever watches hears of the first one only, as of a single block."""
    first, second = Told(0, 3, 6), Told(1, 4, 7)
    seen, reported = together(first, second)
    assert seen == [[0, 3], [1, 4]]
    assert reported[:2] == [0, 3]
    assert first.rate_per_s == second.rate_per_s == 500.0
    assert not first.closed


def test_what_had_no_company_does_not_count():
    """The first one began long before the second: two of its windows are not compared with anything."""
    first, second = Told(0, 3, 6, 9, 12), Told(7, 10, 13)
    seen, _ = together(first, second)
    assert seen == [[6, 9], [7, 10]]


def test_half_a_window_alone_makes_no_difference():
    """Else deployments that begin a second apart would lose a window each time."""
    assert in_company([[at(0), at(3)], [at(1.4), at(4.4)]]) == [[at(0), at(3)], [at(1.4), at(4.4)]]
    assert in_company([[at(0), at(3)], [at(1.6), at(4.6)]]) == [[at(3)], [at(1.6), at(4.6)]]


def test_nothing_counts_before_all_have_begun():
    """One alone has the machine for itself."""
    assert in_company([[at(0), at(3)], []]) == [[], []]


def test_one_that_has_enough_stays_under_load_and_begins_no_window_more():
    """A window that is begun has to be waited for; and without its load the other would be alone."""
    first, second = Told(0, 3, 6, 9), Told(1, 4)
    first.after, second.after = {1: second.begun[1]}, {1: first.seen[1]}
    ended_before_second_s_last = []
    seen_second = second.seen[1].set
    second.seen[1].set = lambda: (ended_before_second_s_last.append(first.ended.is_set()), seen_second())
    seen, _ = together(first, second)
    assert seen == [[0, 3], [1, 4]]
    assert first.asked == 2
    assert ended_before_second_s_last == [False]
    assert first.ended.is_set(), "its load ends with the others'"


def test_where_one_breaks_all_are_closed_and_its_error_is_raised():
    """What is seen of the others has nothing to be compared with."""
    well, broken = Told(*range(0, 300, 3)), Told(0, breaks=True)
    with pytest.raises(ProfileError, match=r"The query died\."):
        together(well, broken)
    assert well.closed
    assert broken.closed
    assert well.ended.is_set()


def test_no_windows_are_no_load():
    """A block without a probe asks for none."""
    deployment = Told(0)
    assert together(deployment, deployment, windows=0)[0] == [[], []]
    assert deployment.asked == 0
