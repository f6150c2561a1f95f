"""The first round that all policies share: every element at its fewest tasks, under stress and a small stream."""

from __future__ import annotations

from profiler.experiment.observation import Detail
from profiler.experiment.rounds import Action, Step, Trial
from profiler.questions.search.policies.incumbent import Moves, Search


def start_trial(search: Search) -> Trial:
    """Return the trial of the smallest configuration with full detail."""
    return Trial(
        search.context.smallest(),
        Step.FEATURES,
        Action.START,
        against=search.rounds[-1].number if search.rounds else None,
        detail=Detail.FULL,
        calm=True,
    )


def one_task_each(search: Search) -> Moves:
    """Measure the smallest configuration; it becomes the incumbent."""
    measured = yield from search.attempt(start_trial(search))
    yield from search.decide(measured, "the start: one task each", accepted=True)
