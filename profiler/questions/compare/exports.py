"""A comparison for other programs: CSV with a line per variant, and Markdown for pull requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from profiler.questions.compare.terminal import cells, described, headline, other_pairs
from profiler.report.writers import Document, Writer, as_json, csv_table
from profiler.settings.choices import ExportKind

COLUMNS = (
    "rank",
    "variant",
    "topology",
    "rows_per_s",
    "effect",
    "low",
    "high",
    "adjusted_p",
    "verdict",
    "latency_p50_ms",
    "latency_p95_ms",
    "latency_p99_ms",
    "latency_at_rows_per_s",
    "cpu_us_per_row",
    "slots",
    "tasks",
    "rounds",
    "blocks",
    "run",
    "reused",
)
_SIGNS = {"faster": "✅", "tie": "✅", "inconclusive": "❔"}


def as_csv(document: Document) -> str:
    """Write a line per variant; effects are against the first."""
    return csv_table(COLUMNS, _rows(document))


def as_markdown(document: Document) -> str:
    """Write the verdict and the table, as a pull request or a CI step shows them."""
    headings, *rows = cells(document)
    lines = [
        f"### {_SIGNS[document['verdict']]} {headline(document)}",
        "",
        f"**{document['verdict']}**: {document['why']}.",
        "",
        _row(headings),
        "|--:|---|" + "--:|" * (len(headings) - 2),
        *map(_row, rows),
        "",
    ]
    lines += [f"- {described(each)}" for each in document["variants"]]
    lines += [f"- {said}" for said in other_pairs(document)]
    lines += [f"- {warning}" for warning in document["warnings"]]
    return "\n".join(lines) + "\n\n"


def _row(cells_of: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells_of) + " |"


def _rows(document: Document) -> Iterator[dict[str, Any]]:
    for each in document["variants"]:
        against, latency, profile = each["against_first"] or {}, each["latency_ms"] or {}, each["profile"]
        yield {
            "rank": each["rank"],
            "variant": each["name"],
            "topology": each["topology"],
            "rows_per_s": each["throughput_per_s"],
            **{key: against.get(key, "") for key in ("effect", "low", "high", "adjusted_p", "verdict")},
            **{f"latency_{key}_ms": latency.get(key, "") for key in ("p50", "p95", "p99")},
            "latency_at_rows_per_s": each["latency_at_per_s"],
            "cpu_us_per_row": each["cpu_us_per_row"],
            "slots": each["slots"],
            "tasks": " ".join(f"{name}={count}" for name, count in each["tasks"].items()),
            "rounds": profile["rounds"],
            "blocks": each["blocks"],
            "run": profile["run"],
            "reused": profile["reused"],
        }


COMPARE_WRITERS: Mapping[ExportKind, Writer[Document]] = {
    ExportKind.JSON: as_json,
    ExportKind.CSV: as_csv,
    ExportKind.MD: as_markdown,
}
"""Formats of a comparison."""
