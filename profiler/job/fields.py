"""What the fields of a topology's elements may hold: whoever errs is told the element and the field.

Values are made plain on the way: a `numpy.float64` is a float from here on, and a path is its text, so that no later
room, document or database meets a type that it does not know.
"""

from __future__ import annotations

import math
import os
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from itertools import islice
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeVar

from profiler.errors import TopologyError, UsageError
from profiler.services.user_path import user_path

T = TypeVar("T")
D = TypeVar("D", bound="DataclassInstance")

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

LONGEST_NAME = 255
LARGEST, SMALLEST = 1e15, 1e-15
"""Numbers beyond them describe no job, and come out of arithmetic as infinite or nothing."""
MOST_TASKS = 1_000_000
MOST_ELEMENTS = 1000
"""Sources, or operators, of one topology; each is an experiment of its own."""
_SHOWN = 60


class _WrongError(Exception):
    """A value that a field can't hold; its text says what the field holds instead."""


def shown(value: object) -> str:
    """Write a value for an error: not too long, and whatever its own code says of it."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - of the user's own class
        text = f"a {type(value).__name__}"
    text = "".join(each if each.isprintable() else "?" for each in text)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def checked_name(value: object, label: str) -> str:
    """Return a name as plain text, or raise a TopologyError that says whose it is."""
    if not isinstance(value, str):
        raise TopologyError(f"{label} has name={shown(value)}.", hint="A name is text.")
    name = str.__str__(value)
    if len(name) > LONGEST_NAME:
        raise TopologyError(
            f"{label} has a name of {len(name):,} characters.", hint=f"{LONGEST_NAME} are the most: shorten it."
        )
    if any(unicodedata.category(each) in ("Cc", "Cs") for each in name):
        raise TopologyError(f"{label} has name={shown(name)}.", hint="A name has printable characters only.")
    return name


def checked_latency(value: object, topology: str) -> float | None:
    """Return a topology's own latency constraint as a plain number."""
    try:
        return None if value is None else _number(value)
    except _WrongError:
        raise TopologyError(
            f"Topology '{topology}' has latency_ms={shown(value)}.", hint="A latency is positive and finite."
        ) from None


def checked_list(values: object, kind: type[T], topology: str, field: str) -> tuple[T, ...]:
    """Return the elements of one kind that a topology is made of."""
    example = f"{field}=[{kind.__name__}('name', …)]"
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise TopologyError(f"Topology '{topology}' has {field}={shown(values)}.", hint=f"Give a list: {example}.")
    found = tuple(islice(values, MOST_ELEMENTS + 1))
    if len(found) > MOST_ELEMENTS:
        raise TopologyError(
            f"Topology '{topology}' has more than {MOST_ELEMENTS:,} {field}.", hint="Profile a part of it."
        )
    for value in found:
        if not isinstance(value, kind):
            raise TopologyError(
                f"Topology '{topology}' has {shown(value)} among its {field}.", hint=f"Write it as {example}."
            )
    return found


def plain(element: D, label: str) -> D:
    """Return a source, an operator or a cost whose fields hold plain values of their types."""
    changes: dict[str, Any] = {}
    for field in fields(element):
        value = getattr(element, field.name)
        try:
            changes[field.name] = _FIELDS.get(field.name, _as_it_is)(value)
        except _WrongError as wrong:
            raise TopologyError(f"{label} {field.name}={shown(value)}.", hint=f"{wrong}") from None
    return replace(element, **changes)


def _is_a(kind: type, value: object) -> bool:
    """Tell whether a value is a number of a kind; True and False are none, although Python counts with them."""
    return isinstance(value, kind) and not isinstance(value, bool)


def _number(value: Any) -> float:
    if not _is_a(Real, value):
        raise _WrongError("It is a number.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or abs(number) > LARGEST or 0 < abs(number) < SMALLEST:
        raise _WrongError(f"It is a number from {SMALLEST:g} to {LARGEST:g}.")
    return number if type(value) is not int else int(value)


def _tasks(value: Any) -> int:
    count = int(value) if _is_a(Integral, value) else 0
    if count < 1:
        raise _WrongError("Task counts are whole numbers from 1.")
    if count > MOST_TASKS:
        raise _WrongError(f"{MOST_TASKS:,} tasks are the most.")
    return count


def _switch(value: object) -> bool:
    if not isinstance(value, bool):
        raise _WrongError("It is True or False.")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or "\0" in value:
        raise _WrongError("It is text.")
    return str.__str__(value)


def _file(value: object) -> str:
    written = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(written, str):
        raise _WrongError("It is text.")
    try:
        user_path(written)
    except UsageError as error:
        raise _WrongError(str(error)) from None
    return str.__str__(written)


def _inputs(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (_text(value),)
    names = tuple(value) if isinstance(value, Iterable) else (value,)
    if not all(isinstance(each, str) for each in names):
        raise _WrongError("Name the elements that it reads: inputs=['name'].")
    return tuple(map(_text, names))


def _schema(value: object) -> object:
    return value if hasattr(value, "simpleString") else _text(value)  # Spark's own type of a row says as much


def _as_it_is(value: object) -> object:
    return value


def _or_none(read: Callable[[object], Any]) -> Callable[[object], Any]:
    return lambda value: None if value is None else read(value)


_FIELDS: Mapping[str, Callable[[object], Any]] = {
    "payloads": _or_none(_file),
    "tasks": _or_none(_tasks),
    "min_tasks": _tasks,
    "max_tasks": _or_none(_tasks),
    "pull_per_s": _or_none(_number),
    "share": _or_none(_number),
    "inputs": _inputs,
    "stateful": _switch,
    "key": _or_none(_text),
    "parallel": _switch,
    "schema": _or_none(_schema),
    "selectivity": _or_none(_number),
    "emits_per_s": _or_none(_number),
    "hot_key_share": _number,
    "cpu_ms": _number,
    "wait_ms": _number,
    "memory_mb": _number,
}
"""How a value of a field is read; the others hold names, code, enums and costs, which have their own checks."""
