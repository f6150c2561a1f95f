"""The time of a search: rounds are started as long as they would end in it."""

from __future__ import annotations

import pytest

from profiler.experiment.time_budget import TimeBudget


class Search:
    """A search of 100 s whose clock the test moves."""

    def __init__(self, budget_s=100.0):
        self.now_s = 1000.0
        self.budget = TimeBudget(budget_s, lambda: self.now_s)

    def after_rounds(self, *seconds):
        for each in seconds:
            self.now_s += each
            self.budget.note_round(each)
        return self.budget.has_room_for_a_round


@pytest.mark.parametrize(
    ("rounds", "has_room"),
    [
        ((), True),
        ((62.0,), True),  # the second is shorter than the first, in which everything is new: 37 s are likely
        ((63.0,), False),
        ((101.0,), False),
        ((40.0, 30.0), True),  # the third ends at 100
        ((40.0, 31.0), False),
        ((30.0, 10.0, 30.0, 10.0), True),  # 16.7 s are likely, 20 are left
        ((40.0, 10.0, 30.0, 10.0), False),
    ],
)
def test_no_round_starts_that_would_end_too_late(rounds, has_room):
    """Rounds after the first tell how long the next one takes; where there is none yet, the first one does."""
    assert Search().after_rounds(*rounds) is has_room


def test_what_is_short_may_start_until_the_time_is_over():
    """A verification is not a round."""
    search = Search()
    search.after_rounds(40.0, 60.0)
    assert not search.budget.is_over
    search.now_s += 1
    assert search.budget.is_over


def test_without_a_budget_there_is_always_room():
    """However long the rounds take."""
    search = Search(None)
    assert search.after_rounds(1e6, 1e6)
    assert not search.budget.is_over
