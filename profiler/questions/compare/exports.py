"""A comparison for other programs: CSV with a line per variant, and Markdown for pull requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from profiler.questions.compare.answer import CompareAnswer
from profiler.questions.compare.terminal import cells, described, headline, other_pairs
from profiler.report.documents import document_of
from profiler.report.writers import Writer, as_json, csv_table
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


def as_csv(answer: CompareAnswer) -> str:
    """Write a line per variant; effects are against the first."""
    return csv_table(COLUMNS, _rows(answer))


def as_markdown(answer: CompareAnswer) -> str:
    """Write the verdict and the table, as a pull request or a CI step shows them."""
    headings, *rows = cells(answer)
    lines = [
        f"### {_SIGNS[answer.verdict]} {headline(answer)}",
        "",
        f"**{answer.verdict}**: {answer.why}.",
        "",
        _row(headings),
        "|--:|---|" + "--:|" * (len(headings) - 2),
        *map(_row, rows),
        "",
    ]
    lines += [f"- {described(each)}" for each in answer.variants]
    lines += [f"- {said}" for said in other_pairs(answer)]
    lines += [f"- {warning}" for warning in answer.warnings]
    return "\n".join(lines) + "\n\n"


def _row(cells_of: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells_of) + " |"


def _rows(answer: CompareAnswer) -> Iterator[dict[str, Any]]:
    for each in answer.variants:
        against, latency = each.against_first, each.latency_ms
        yield {
            "rank": each.rank,
            "variant": each.name,
            "topology": each.topology,
            "rows_per_s": each.throughput_per_s,
            **(document_of(against) if against else {}),
            **({} if latency is None else {f"latency_{key}_ms": value for key, value in document_of(latency).items()}),
            "latency_at_rows_per_s": each.latency_at_per_s,
            "cpu_us_per_row": each.cpu_us_per_row,
            "slots": each.slots,
            "tasks": " ".join(f"{name}={count}" for name, count in each.tasks.items()),
            "rounds": each.profile.rounds,
            "blocks": each.blocks,
            "run": each.profile.run,
            "reused": each.profile.reused,
        }


COMPARE_WRITERS: Mapping[ExportKind, Writer[CompareAnswer]] = {
    ExportKind.JSON: as_json,
    ExportKind.CSV: as_csv,
    ExportKind.MD: as_markdown,
}
"""Formats of a comparison."""
