"""How settings are written and read: durations, percentages, rates, counts, choices, each one `Kind`.

A kind turns text into a value and back. The text of a flag, of an environment variable and of a configuration file
goes through the same kind, so that a malformed value is refused by the same sentence wherever it was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Generic, TypeVar

from profiler.errors import UsageError
from profiler.secrets import masked_setting, without_password

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)

_NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?"
_LONGEST_SHOWN = 200
_MOST = 2**63 - 1
"""The largest whole number that a database keeps."""
_LARGEST = 1e15
"""Beyond it not every whole number is one for floating-point arithmetic."""
_LONGEST_S = 100 * 365.25 * 86400
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_THOUSANDS = {"": 1.0, "k": 1e3, "m": 1e6}


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """One way of writing a value: what it is called, an example, and both directions."""

    noun: str
    """The noun that completes "… is 'abc', not …"."""
    example: str
    """An example that completes "Write it like …"."""
    metavar: str
    """The name of a value in the help."""
    parse: Callable[[str], T]
    """A function that reads a text, and raises ValueError where it is no such value."""
    show: Callable[[T], str] = str
    """A function that gives text that `parse` reads as the same value, secrets left out."""

    def read(self, written: str, where: str) -> T:
        """Parse what a user wrote; raise the error that names where it stands and how to write it."""
        try:
            return self.parse(written)
        except OverflowError:
            raise UsageError(
                f"{where} is '{_short(written)}', which is too large.", hint="Name a smaller one."
            ) from None
        except ValueError:
            raise self.malformed(written, where) from None

    def malformed(self, written: str, where: str) -> UsageError:
        """Return the error for a text that is no such value."""
        shown = _short(masked_setting(without_credentials(written)))
        return UsageError(f"{where} is '{shown}', not {self.noun}.", hint=f"Write it like {self.example}.")


def _short(written: str) -> str:
    return written if len(written) <= _LONGEST_SHOWN else f"{written[:_LONGEST_SHOWN]}…"


def without_credentials(written: str) -> str:
    """Hide user, password and options of a URI, even of a malformed one: they never appear in output or documents.

    Everything up to the last @ counts as credentials: a password may hold a slash or a blank that is not escaped. What
    follows a colon of the rest is shown where it is a port. Of settings, KEY=VALUE, only values that are URIs change.
    """
    scheme, separator, place = written.partition("://") if "://" in written else ("", "", written)
    _, at, shown = place.rpartition("@")
    shown = shown.partition("?")[0] if separator else shown
    is_setting = "=" in (scheme if separator else shown.partition(":")[0])
    return f"{scheme}{separator}{'…@' if at else ''}{shown if is_setting else without_password(shown)}"


def _matched(pattern: str, text: str) -> re.Match[str]:
    match = re.fullmatch(pattern, text.strip(), re.IGNORECASE)
    if match is None:
        raise ValueError(text)
    return match


def duration(*, unit_s: float = 1.0) -> Kind[float]:
    """Read a duration above zero as a number of units: `unit_s=0.001` gives milliseconds."""

    def parse(text: str) -> float:
        number, unit = _matched(rf"({_NUMBER})\s*({'|'.join(_SECONDS)})", text).groups()
        seconds = float(number) * _SECONDS[unit.lower()]
        if seconds > _LONGEST_S:
            raise OverflowError(text)
        # Rounded, as 0.001 has no exact binary form: 500ms is 500, not 500.00000000000006.
        units = round(seconds / unit_s, 9)
        if units <= 0:
            raise ValueError(text)
        return units

    def show(value: float) -> str:
        seconds = value * unit_s
        fitting = [unit for unit, length in _SECONDS.items() if round(seconds / length, 9).is_integer()]
        unit = fitting[-1] if fitting else "ms"
        return f"{round(seconds / _SECONDS[unit], 9):.12g}{unit}"

    return Kind("a duration above zero", "500ms, 3s or 10m", "DURATION", parse, show)


def ratio(*, zero: bool) -> Kind[float]:
    """Read a part of a whole, written as "2%" or "0.02"; `zero` says whether nothing is a part."""

    def parse(text: str) -> float:
        number, percent = _matched(rf"({_NUMBER})\s*(%?)", text).groups()
        value = round(float(number) / (100 if percent else 1), 12)
        if value > 1 or (value == 0 and not zero):
            raise ValueError(text)
        return value

    noun = f"a part {'from' if zero else 'above'} 0% to 100%"
    return Kind(noun, "2% or 0.02", "PART", parse, lambda value: f"{round(value * 100, 9):.12g}%")


def one_part(parts: Sequence[float]) -> Kind[float]:
    """Read one of a few parts of a whole, written as "95%" or "0.95"."""
    any_part = ratio(zero=False)
    names = [any_part.show(each) for each in parts]

    def parse(text: str) -> float:
        value = any_part.parse(text)
        if value not in parts:
            raise ValueError(text)
        return value

    return replace(any_part, noun=f"one of {', '.join(names)}", example=names[-1], parse=parse)


def rate() -> Kind[float]:
    """Read rows per second above zero: "5000", "5000/s", "5k/s", "1.5M/s"."""

    def parse(text: str) -> float:
        number, thousands = _matched(rf"({_NUMBER})\s*([km]?)(?:/s)?", text).groups()
        value = round(float(number) * _THOUSANDS[thousands.lower()], 9)
        if value <= 0:
            raise ValueError(text)
        if value > _LARGEST:
            raise OverflowError(text)
        return value

    return Kind("a rate above zero", "5000, 5k/s or 1.5M/s", "RATE", parse, lambda value: f"{value:.12g}/s")


def count(*, least: int, most: int | None = None) -> Kind[int]:
    """Read a whole number from `least`; `most` is where more would never come to an end."""

    def parse(text: str) -> int:
        digits = _matched(r"([0-9]+)", text).group()
        # Python reads no number of thousands of digits.
        value = int(digits) if len(digits.lstrip("0")) <= len(str(_MOST)) else _MOST + 1
        if value < least or (most is not None and value > most):
            raise ValueError(text)
        if value > _MOST:
            raise OverflowError(text)
        return value

    return Kind(f"a whole number from {least}{'' if most is None else f' to {most:,}'}", "12", "N", parse)


def number(*, least: float) -> Kind[float]:
    """Read a plain number from `least`."""

    def parse(text: str) -> float:
        value = float(_matched(_NUMBER, text).group())
        if value < least:
            raise ValueError(text)
        if value > _LARGEST:
            raise OverflowError(text)
        return value

    return Kind(f"a number from {least:g}", "2 or 2.5", "X", parse, lambda value: f"{value:.12g}")


def choice(choices: type[E]) -> Kind[E]:
    """Read one of an enum's values."""
    values = [member.value for member in choices]
    return Kind(f"one of {', '.join(values)}", values[0], "|".join(values), choices)


def text(noun: str, example: str, metavar: str, pattern: str = r"\S.*") -> Kind[str]:
    """Read text that matches a pattern as it is written."""
    return Kind(noun, example, metavar, lambda written: _matched(pattern, written).group())


def switch() -> Kind[bool]:
    """Read yes or no."""
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}

    def parse(written: str) -> bool:
        try:
            return words[written.strip().lower()]
        except KeyError:
            raise ValueError(written) from None

    return Kind("true or false", "true", "", parse, lambda value: "true" if value else "false")
