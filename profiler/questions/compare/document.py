"""The document of a comparison: written from its answer, and read back to it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from profiler.history.migrations import COMPARE_RESULT
from profiler.history.records import read_document
from profiler.questions.compare.answer import CompareAnswer
from profiler.report.documents import document_of


def compare_document(answer: CompareAnswer) -> dict[str, Any]:
    """Write a comparison's answer as one document."""
    document: dict[str, Any] = document_of(answer)
    return document


def read_comparison(document: Mapping[str, Any]) -> CompareAnswer:
    """Read a comparison's answer back; ProfileError with the key where it is not what it should be."""
    return read_document(_adapter(), COMPARE_RESULT.current(document), "comparison")


@cache
def _adapter() -> TypeAdapter[CompareAnswer]:
    return TypeAdapter(CompareAnswer)
