"""The document of a gate: written from its answer, and read back to it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from profiler.history.migrations import GATE_RESULT
from profiler.history.records import read_document
from profiler.questions.gate.answer import GateAnswer
from profiler.report.documents import document_of


def gate_document(answer: GateAnswer) -> dict[str, Any]:
    """Write a gate's answer as one document."""
    document: dict[str, Any] = document_of(answer)
    return document


def read_gate(document: Mapping[str, Any]) -> GateAnswer:
    """Read a gate's answer back; ProfileError with the key where it is not what it should be."""
    return read_document(_adapter(), GATE_RESULT.current(document), "gate")


@cache
def _adapter() -> TypeAdapter[GateAnswer]:
    return TypeAdapter(GateAnswer)
