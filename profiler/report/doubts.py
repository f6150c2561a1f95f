"""What to do about each doubt."""

from __future__ import annotations

from profiler.statistics.doubt import Doubt

ADVICE: dict[Doubt, str] = {
    Doubt.GENERATOR_LIMITED: "The generator could not send faster, so the job may do more than was seen",
    Doubt.NOT_STATIONARY: "Throughput still drifted: repeat on a quieter machine or with more --windows",
    Doubt.NOT_SATURATED: "No offered rate saturated the job, so it may do more than was seen",
    Doubt.BATCH_OVERRUN: "Batches ran longer than their trigger: use a longer --window",
    Doubt.HOT_KEY: "One task works far more than the mean: one key has many rows, and further tasks help little",
    Doubt.TOO_FEW_WINDOWS: "The round ended early, its figures are rough",
    Doubt.NOT_NORMAL: "Windows are not normally distributed: read Mann-Whitney's p in the JSON beside Welch's",
    Doubt.LATENCY_UNKNOWN: "Too few rows came out to tell their latency, so the constraint was not checked",
    Doubt.DISTURBED: "Something else held the job up: repeat on a quieter machine if it is to be exact",
}
"""One sentence per doubt, without its full stop."""


def advised(doubt: str) -> str:
    """Name a doubt with what to do about it; one that another version knew is only named."""
    known = {str(each): advice for each, advice in ADVICE.items()}
    return f"{doubt}. {known[doubt]}" if doubt in known else doubt
