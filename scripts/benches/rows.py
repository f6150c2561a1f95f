"""What a bench yields: one measured quantity, with its interval and the goal it is held against."""

from __future__ import annotations

from typing import Literal, TypedDict


class Row(TypedDict):
    """One line of a bench; the goal is None where a figure is only reported."""

    quantity: str
    ours: float
    goal: float | None
    better: Literal["higher", "lower"]
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
    better: Literal["higher", "lower"] = "higher",
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
