"""Time that is limited: rounds and blocks are started as long as they would end in it."""

from __future__ import annotations

import pytest

from profiler.experiment.clock import DEPLOYING_S, BlockTime, Deadline, RoundTime
from profiler.experiment.events import BlockMeasured, BlockStarted, LoadingStarted, Phase, WindowSeen
from profiler.job.configuration import Configuration
from tests.scenarios import window


class Search:
    """A search of 100 s whose clock the test moves."""

    def __init__(self, budget_s=100.0):
        self.now_s = 1000.0
        self.deadline = Deadline.within(budget_s, lambda: self.now_s)
        self.rounds = RoundTime(self.deadline)

    def after_rounds(self, *seconds):
        for each in seconds:
            self.now_s += each
            self.rounds.note_round(each)
        return self.rounds.allows_a_round


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
    assert not search.deadline.is_over
    search.now_s += 1
    assert search.deadline.is_over


def test_without_a_budget_there_is_always_room():
    """However long the rounds take."""
    search = Search(None)
    assert search.after_rounds(1e6, 1e6)
    assert not search.deadline.is_over


def test_what_is_left_is_shared_in_equal_parts():
    """Of two minutes, half each; of a time that is over, nothing; without a limit there are no parts."""
    now_s = [60.0]
    deadline = Deadline.within(120.0, lambda: now_s[0])
    assert deadline.part_s(2) == 60.0
    now_s[0] = 120.0
    assert (deadline.left_s, deadline.part_s(3)) == (60.0, 20.0)
    now_s[0] = 200.0
    assert (deadline.is_over, deadline.part_s(2)) == (True, 0.0)
    assert Deadline().part_s(2) is None


ONE_EACH = Configuration.of({"rows": 1})
LOADING = LoadingStarted(1, "baseline", ONE_EACH)
BLOCK = BlockStarted(0, 8, ONE_EACH)
SEEN = WindowSeen(Phase.BLOCK, 1, 1, ONE_EACH, window())


def followed(*steps, ends_s=None):
    """Tell events at their moments."""
    now_s = [0.0]
    time = BlockTime(Deadline(ends_s, lambda: now_s[0]))
    for at_s, event in steps:
        now_s[0] = at_s
        time(event)
    return time


def test_the_first_deployment_of_a_session_tells_no_more_than_a_usual_one_takes():
    """It takes longer than all others; what a window takes is the median, as one may have stalled."""
    time = followed((0, LOADING), (20, SEEN), (24, SEEN), (28, SEEN), (39, SEEN), (43, SEEN))
    assert time.block_s(4) == DEPLOYING_S + 4 * 4


def test_the_next_deployment_tells_what_deploying_takes():
    """From the end of the last window before it on."""
    time = followed((0, LOADING), (20, SEEN), (24, SEEN), (25, BLOCK), (31, SEEN), (35, SEEN))
    assert time.block_s(2) == (7 - 4) + 2 * 4


def test_a_block_that_was_measured_tells_what_the_next_one_takes():
    """What they took on average, whatever was foreseen."""
    measured = BlockMeasured(1, None, 1.0, None)
    time = followed((0, LOADING), (9, SEEN), (10, BLOCK), (33, measured), (33, BLOCK), (60, measured), ends_s=115)
    assert time.block_s(5) == 25
    assert time.allows(2, 5)
    assert not time.allows(3, 5)


def test_blocks_of_arms_that_stand_need_no_deployment():
    """But a window each for the change of the load."""
    time = followed((0, LOADING), (20, SEEN), (24, SEEN), (25, BLOCK), (41, SEEN), (45, SEEN), ends_s=45 + 36)
    assert time.allows(3, 2, standing=True)
    assert not time.allows(4, 2, standing=True)
    assert not time.allows(3, 2)


def test_windows_that_take_no_time_leave_time_for_any_number():
    """As simulated ones; without an end there is always time."""
    assert followed((5, LOADING), (5, SEEN), (5, SEEN), ends_s=6).allows(1000, 5)
    assert followed((0, LOADING), (10, SEEN), (20, SEEN)).allows(1000, 5)
