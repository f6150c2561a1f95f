"""Blocks in turns: mirrored, looked at early, resumed, ended by the time."""

from __future__ import annotations

import pytest

from profiler.experiment.comparing.turns import EARLY_PART, Turns, looks
from profiler.experiment.observation import BlockWindows


class Measured:
    """Turns whose blocks hold nothing but their arm, and what was asked for."""

    def __init__(self, arms=2, blocks=8, *, early=1, **more):
        self.asked = []
        self.turns = Turns(range(arms), looks(blocks, early=early), self._measure, **more)

    def _measure(self, turn):
        self.asked.append(turn)
        return [BlockWindows(arm, ()) for arm in turn.order]

    @property
    def arms(self):
        return [block.arm for block in self.turns.blocks]


def of(*arms):
    return [BlockWindows(arm, ()) for arm in arms]


def test_few_blocks_are_looked_at_once():
    """Two or three blocks tell too little for an early look."""
    assert looks(3) == [(3, 1.0)]
    assert looks(6) == [(3, pytest.approx(0.2)), (4, pytest.approx(0.2)), (6, pytest.approx(0.6))]
    assert sum(part for _, part in looks(9)) == pytest.approx(1)


def test_a_design_may_have_one_early_look_only():
    """The last one may use all that it left."""
    assert looks(8, early=1) == [(4, EARLY_PART), (8, 1 - EARLY_PART)]
    assert looks(4, early=1) == [(4, 1.0)]


def test_every_second_turn_is_mirrored():
    """Each turn knows what was measured before it, and how much will have been in the end."""
    seen = Measured(arms=3, blocks=4)
    assert list(seen.turns) == [1.0]
    assert seen.arms == [0, 1, 2, 2, 1, 0] * 2
    assert [(turn.before, turn.planned) for turn in seen.asked] == [(0, 12), (3, 12), (6, 12), (9, 12)]
    assert seen.turns.complete


def test_looks_share_the_level():
    """Two early ones, and what they left for the last one."""
    seen = Measured(blocks=6, early=2)
    assert [(part, len(seen.turns.blocks)) for part in seen.turns] == [
        (EARLY_PART, 6),
        (EARLY_PART, 8),
        (pytest.approx(1 - 2 * EARLY_PART), 12),
    ]


def test_an_arm_that_is_left_out_gets_no_more_blocks():
    """The others go on, mirrored as they were; fewer blocks are planned."""
    seen = Measured(arms=3, blocks=6)
    for _ in seen.turns:
        seen.turns.arms = [0, 2]
    assert seen.arms == [0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 0, 0, 2, 2, 0]
    assert seen.asked[-1].planned == 15


def test_whoever_has_seen_enough_stops():
    """The time did not end it, so it is complete."""
    seen = Measured(blocks=8)
    for _ in seen.turns:
        break
    assert len(seen.turns.blocks) == 8
    assert seen.turns.complete


def test_blocks_of_an_earlier_session_are_not_measured_again():
    """It goes on in the middle of a turn, and asks for nothing where all is there."""
    seen = Measured(blocks=4, past=of(0, 1, 1))
    list(seen.turns)
    assert seen.arms == [0, 1, 1, 0, 0, 1, 1, 0]
    assert [turn.order for turn in seen.asked] == [(0,), (0, 1), (1, 0)]
    assert (seen.asked[0].before, seen.asked[0].planned) == (3, 8)
    whole = Measured(blocks=4, past=of(*seen.arms), is_time_for=lambda _: False)
    assert list(whole.turns) == [1.0]
    assert (whole.asked, whole.arms, whole.turns.complete) == ([], seen.arms, True)


def test_blocks_that_belong_together_are_measured_anew_together():
    """A half turn counts for nothing."""
    seen = Measured(blocks=4, past=of(0, 1, 1), whole=True)
    list(seen.turns)
    assert [turn.order for turn in seen.asked] == [(1, 0), (0, 1), (1, 0)]
    assert seen.asked[0].before == 2


def test_no_turn_begins_that_there_is_no_time_for():
    """What there is is looked at once, with all of the level; where there is nothing, too."""
    seen = Measured(blocks=8, is_time_for=lambda missing: len(seen.turns.blocks) + missing <= 6)
    assert list(seen.turns) == [1.0]
    assert len(seen.turns.blocks) == 6
    assert not seen.turns.complete
    none = Measured(is_time_for=lambda _: False)
    assert list(none.turns) == [1.0]
    assert none.arms == []


def test_a_look_that_no_turn_can_follow_is_the_last_one():
    """It may use all of the level; one that an earlier session took is not taken back."""
    seen = Measured(blocks=8, is_time_for=lambda missing: len(seen.turns.blocks) + missing <= 8)
    assert list(seen.turns) == [1.0]
    taken = Measured(blocks=8, past=of(*seen.arms), is_time_for=lambda _: False)
    assert list(taken.turns) == [EARLY_PART, 1 - EARLY_PART]
