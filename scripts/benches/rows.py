"""What a bench yields: one measured quantity, with its interval and the goal it is held against."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

from scipy import stats

Better = Literal["higher", "lower"]


class Row(TypedDict):
    """One line of a bench; the goal is None where a figure is only reported."""

    quantity: str
    ours: float
    goal: float | None
    better: Better
    unit: str
    against: str
    n: int
    low: float | None
    high: float | None


def row(
    quantity: str,
    ours: float,
    goal: float | None = None,
    *,
    better: Better = "higher",
    unit: str = "ratio",
    against: str = "",
    n: int,
    low: float | None = None,
    high: float | None = None,
) -> Row:
    """Build a row."""
    return {
        "quantity": quantity,
        "ours": ours,
        "goal": goal,
        "better": better,
        "unit": unit,
        "against": against,
        "n": n,
        "low": low,
        "high": high,
    }


def rate_row(
    quantity: str, hits: Sequence[bool], goal: float | None = None, *, better: Better = "higher", against: str = ""
) -> Row:
    """Build the row of a rate, with its exact binomial interval at 95 %."""
    low, high = rate_interval(hits)
    ours = sum(hits) / len(hits) if hits else 0.0
    return row(quantity, ours, goal, better=better, against=against, n=len(hits), low=low, high=high)


def rate_interval(hits: Sequence[bool]) -> tuple[float, float]:
    """Return between what the rate lies that gave these, at 95 %."""
    if not hits:
        return 0.0, 1.0
    found = stats.binomtest(sum(hits), len(hits)).proportion_ci(0.95)
    return float(found.low), float(found.high)
