"""Small phrases that several reports share."""

from __future__ import annotations


def change(effect: float) -> str:
    """Write a relative effect as a person would: percent for small ones, a factor for large ones."""
    return f"{effect:+.1%}" if effect < 2 else f"×{1 + effect:.1f}"


def counted(number: int, noun: str) -> str:
    """Write how many there are of something."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def lasting(seconds: float) -> str:
    """Write a length of time as a person would say it."""
    return f"{seconds / 60:g} min" if seconds >= 60 and seconds % 60 == 0 else f"{seconds:g} s"


def minutes(seconds: float) -> str:
    """Write a time as m:ss."""
    whole = max(0, round(seconds))
    return f"{whole // 60}:{whole % 60:02d}"
