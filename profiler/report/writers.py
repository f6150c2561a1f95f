"""Reports for other programs: the document as JSON, its rounds as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from profiler.errors import UsageError
from profiler.questions.search.markdown import as_markdown
from profiler.settings.declarations import ExportKind

Document = Mapping[str, Any]
Writer = Callable[[Document], str]
COLUMNS = ("number", "step", "action", "tasks", "rows_per_s", "effect", "p", "decision", "why")


def check_export(kind: ExportKind, writers: Mapping[ExportKind, Writer]) -> None:
    """Refuse a format that such documents do not have, before anything is measured."""
    if kind not in writers:
        raise UsageError(f"The result can't be exported as {kind}.", hint=f"Choose from {', '.join(writers)}.")


def as_json(document: Document) -> str:
    """Write the whole document."""
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def as_csv(document: Document) -> str:
    """Write a line per round."""
    return csv_table(COLUMNS, _rows(document))


def csv_table(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Write these columns of the rows."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _rows(document: Document) -> list[dict[str, Any]]:
    rows = []
    for seen in document["rounds"]:
        comparison = seen["comparison"] or {}
        throughputs = seen["throughput_per_s"]
        rows.append(
            {
                "number": seen["number"],
                "step": seen["step"],
                "action": seen["action"],
                "tasks": " ".join(str(count) for count in seen["tasks"].values()),
                "rows_per_s": round(sum(throughputs) / len(throughputs), 1),
                "effect": comparison.get("effect", ""),
                "p": comparison.get("p", ""),
                "decision": seen["decision"],
                "why": seen["why"],
            }
        )
    return rows


PROFILE_WRITERS: Mapping[ExportKind, Writer] = {
    ExportKind.JSON: as_json,
    ExportKind.CSV: as_csv,
    ExportKind.MD: as_markdown,
}
"""Formats of a profile."""
