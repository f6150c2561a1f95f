"""Rounds as plain documents, for the store and for `--json`: what a replay needs, and nothing of an engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from profiler.errors import ProfileError
from profiler.experiment.rounds import Round
from profiler.history.migrations import ROUND
from profiler.report.documents import plain


def round_document(measured: Round) -> dict[str, Any]:
    """Turn a round into a document of plain values; infinities become strings, which JSON can carry."""
    document: dict[str, Any] = plain(asdict(measured))
    return document


def round_from(document: Mapping[str, Any]) -> Round:
    """Turn a document back into the round it came from."""
    try:
        return _adapter().validate_python(ROUND.current(document))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ProfileError(
            f"A stored round can't be read: {first['msg']} at '{place}'.", hint="Was it written by another version?"
        ) from None


@cache
def _adapter() -> TypeAdapter[Round]:
    return TypeAdapter(Round)
