"""Reports for other programs: the document as JSON, its rounds as CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from profiler.errors import UsageError
from profiler.report.documents import document_of
from profiler.settings.choices import ExportKind

T = TypeVar("T")
Writer = Callable[[T], str]
"""Turns what a command ended with into text."""


def check_export(kind: ExportKind, writers: Mapping[ExportKind, Writer[T]]) -> None:
    """Refuse a format that such documents do not have, before anything is measured."""
    if kind not in writers:
        raise UsageError(f"The result can't be exported as {kind}.", hint=f"Choose from {', '.join(writers)}.")


def as_json(result: object) -> str:
    """Write all of a result as one document."""
    return json.dumps(document_of(result), indent=1, allow_nan=False) + "\n"


def as_printed_json(document: Mapping[str, Any]) -> str:
    """Write a document as people read it: in their own letters, without what a terminal takes for an order."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    return re.sub("[\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def as_bytes(text: str) -> bytes:
    r"""Return a text as files hold it; what UTF-8 has no way to write, as in a path that is no text, is `\udcff`."""
    return text.encode("utf-8", "backslashreplace")


def csv_table(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Write these columns of the rows."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
