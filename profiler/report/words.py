"""Small phrases that several reports share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from profiler.traffic.payload_sample import PayloadSample


def change(effect: float) -> str:
    """Write a relative effect as a person would: percent for small ones, a factor for large ones."""
    return f"{effect:+.1%}" if effect < 2 else f"×{1 + effect:.1f}"


def counted(number: int, noun: str) -> str:
    """Write how many there are of something."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def messages_in_words(source: str, file: str, sample: PayloadSample) -> str:
    """Say in one sentence what a source's messages are like."""
    keys = "no keys"
    if sample.keyed:
        keys = f"{sample.keyed:.0%} with a key, the most frequent one in {sample.top_key_share:.0%}"
    size = counted(round(sample.mean_bytes), "byte")
    return f"{source}: {counted(sample.messages, 'message')} of {file}, {size} on average, {keys}."


def lasting(seconds: float) -> str:
    """Write a length of time as a person would say it."""
    return f"{seconds / 60:g} min" if seconds >= 60 and seconds % 60 == 0 else f"{seconds:g} s"


def minutes(seconds: float) -> str:
    """Write a time as m:ss."""
    whole = max(0, round(seconds))
    return f"{whole // 60}:{whole % 60:02d}"
