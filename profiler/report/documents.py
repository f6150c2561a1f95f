"""Results as plain documents, for `--json` and for the store."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

OMITTED_IF_NONE = {"omitted_if_none": True}
"""Metadata of a field whose key a document does not have where the value is None."""


def written_as(write: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the metadata of a field whose value is written by a function of its own."""
    return {"written_as": write}


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
