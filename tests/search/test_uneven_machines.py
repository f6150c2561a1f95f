"""Tasks that work more because of where they run are no hot key; one key with most rows still is."""

from __future__ import annotations

from pathlib import Path

import pytest

from profiler.experiment.observation import OperatorWindow, hot_keys
from profiler.questions.search.policies.incumbent import in_words
from profiler.statistics.result import Comparison, Verdict


def window(ratio: float, tasks: int = 6) -> OperatorWindow:
    """Build an operator's window whose busiest task works so many times as much as the mean."""
    return OperatorWindow(
        tasks=tasks, rows_in=None, rows_out=None, busy_s=10.0, cpu_s=10.0, busiest_task_s=ratio * 10.0 / tasks
    )


@pytest.mark.parametrize(
    ("ratios", "hot"),
    [
        ({"lines": 1.0, "split": 1.69, "clean": 1.49, "count": 1.69}, False),
        ({"lines": 1.0, "split": 1.0, "clean": 1.0, "count": 1.69}, True),
        ({"lines": 1.7, "split": 1.7, "clean": 1.7, "count": 3.5}, True),
        ({"lines": 1.0, "split": 9.0, "clean": 1.0, "count": 1.69}, True),
        ({"count": 1.69}, True),
        ({"count": 1.4}, False),
    ],
    ids=["all of them", "one of them", "all, one more", "another one's chance", "nothing to compare with", "a little"],
)
def test_a_key_is_hot_where_its_operator_is_more_uneven_than_the_others(ratios: dict[str, float], hot: bool) -> None:
    found = hot_keys({name: window(ratio) for name, ratio in ratios.items()}, {"count"})
    assert list(found) == (["count"] if hot else [])


@pytest.mark.long
def test_the_first_run_of_the_starter_file_warns_of_nothing(profile, folder: Path) -> None:
    profile("init")
    answer = profile("run", "topology.py", "--engine", "simulated", "--no-confirm")
    assert answer.exit_code == 0
    assert "hot-key" not in answer.stdout


@pytest.mark.parametrize(
    ("verdict", "effect", "said"),
    [
        (Verdict.DECREASED, -0.196, "throughput decreased by 19.6% "),
        (Verdict.INCREASED, 0.3, "throughput increased by +30.0% "),
    ],
)
def test_less_is_said_once(verdict: Verdict, effect: float, said: str) -> None:
    found = Comparison("welch", verdict, effect, effect - 0.1, effect + 0.1, 0.01, 0.05, 10, 10)
    assert in_words(found).startswith(said)
