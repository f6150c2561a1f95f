"""A stored answer that was measured again: as good, slower, or not to be told."""

from __future__ import annotations

import numpy as np
import pytest

from profiler.questions.recalibrate.stored_answer import Standing, look_at
from profiler.questions.search.policies.policy import Parameters
from profiler.questions.search.stored_profile import StoredRounds
from tests.scenarios import outcome

TASKS = {"in": 1, "work": 2}


def seen(mean: float, noise: float, seed: int) -> list[float]:
    """Ten windows whose sample mean and deviation are exactly these."""
    drawn = np.random.default_rng(seed).normal(size=10)
    return [float(value) for value in mean * (1 + noise * (drawn - drawn.mean()) / drawn.std())]


@pytest.mark.parametrize(
    ("now", "noise", "standing"),
    [
        (1000.0, 0.05, Standing.AS_GOOD),
        (700.0, 0.05, Standing.SLOWER),
        (870.0, 0.1, Standing.UNCLEAR),
        (980.0, 0.1, Standing.AS_GOOD),
        (980.0, 0.25, Standing.UNCLEAR),
    ],
)
def test_it_stands_by_what_was_measured(now, noise, standing):
    """13 % less that may be chance is no confirmation, and neither is what would not have found twice as much."""
    before = outcome(TASKS, seen(1000.0, noise, seed=1))
    again = outcome(TASKS, seen(now, noise, seed=2), number=2)
    look = look_at(StoredRounds(before, before, (before,)), again, [again], Parameters())
    assert look.standing is standing, look.comparison
    assert look.in_doubt == (standing is not Standing.AS_GOOD)
