"""Results as plain documents, for `--json` and for the store."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

OMITTED_IF_NONE = {"omitted_if_none": True}
"""Metadata of a field whose key a document does not have where the value is None."""


def written_as(write: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the metadata of a field whose value is written by a function of its own."""
    return {"written_as": write}


_DEEPEST = 100
"""Levels of lists and objects in each other; a document of ours has a dozen, and a database takes no more."""


def parsed_json(text: str | bytes) -> Any:
    """Return what a JSON text says; ValueError where it is none, or nested more deeply than a document ever is."""
    try:
        parsed = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    level = [parsed]
    for _ in range(_DEEPEST):
        level = [inner for outer in level for inner in _within(outer)]
        if not level:
            return parsed
    raise ValueError("nested too deeply")


def _within(value: Any) -> list[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [each for each in inner if isinstance(each, dict | list)]


def plain(value: Any) -> Any:
    """Turn a value into what JSON knows: enums to text, tuples to lists, infinities and NaN to text."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def document_of(value: Any) -> Any:
    """Turn a tree of dataclasses into a document of plain values; `class_` and `from_` become the words they stand for.

    Their fields are in the order in which a document has its keys.
    """
    if is_dataclass(value):
        return {
            each.name.rstrip("_"): each.metadata.get("written_as", document_of)(written)
            for each in fields(value)
            if (written := getattr(value, each.name)) is not None or "omitted_if_none" not in each.metadata
        }
    if isinstance(value, Mapping):
        return {str(key): document_of(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [document_of(item) for item in value]
    return plain(value)
