"""The document of a profile: written from the value, and read back to it.

`rounds[].record` holds a round as it was measured, so that the document can be replayed through the policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from profiler.errors import UsageError
from profiler.experiment.rounds import Round
from profiler.history.documents import round_from
from profiler.history.migrations import RESULT
from profiler.history.records import read_document
from profiler.questions.search.answer import Profile
from profiler.report.documents import document_of


def profile_document(profile: Profile) -> dict[str, Any]:
    """Write a profile as one document."""
    document: dict[str, Any] = document_of(profile)
    return document


def read_profile(document: Mapping[str, Any]) -> Profile:
    """Read a profile of any version back; ProfileError with the key where it is not what it should be."""
    return read_document(_adapter(), RESULT.current(document), "profile")


def rounds_of(document: Mapping[str, Any]) -> list[Round]:
    """Read the rounds back from a document, for a replay."""
    if document.get("schema") != RESULT.mark:
        raise UsageError(f"The document has schema {document.get('schema')!r}, not {RESULT.mark!r}.")
    rounds: Sequence[Mapping[str, Any]] = document.get("rounds", ())
    return [round_from(entry["record"]) for entry in rounds]


@cache
def _adapter() -> TypeAdapter[Profile]:
    return TypeAdapter(Profile)
