"""The first round that all policies share: every element at its fewest tasks, under stress and a small stream."""

from __future__ import annotations

from profiler.observation import Detail
from profiler.policies.search import Moves, Search
from profiler.rounds import Action, Step, Trial


def one_task_each(search: Search) -> Moves:
    """Measure the smallest configuration with full detail; it becomes the incumbent."""
    trial = Trial(
        search.situation.smallest(),
        Step.FEATURES,
        Action.START,
        against=search.rounds[-1].number if search.rounds else None,
        detail=Detail.FULL,
        calm=True,
    )
    outcome = yield from search.attempt(trial)
    yield from search.decide(outcome, "the start: one task each", accepted=True)
