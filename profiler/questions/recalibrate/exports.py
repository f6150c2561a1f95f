"""Reports of a recalibration for other programs and for pull requests."""

from __future__ import annotations

from collections.abc import Mapping

from profiler.questions.recalibrate.words import facts, headline, said
from profiler.questions.search.document import read_profile
from profiler.questions.search.exports import rounds_as_csv
from profiler.report.writers import Document, Writer, as_json
from profiler.settings.choices import ExportKind


def as_markdown(document: Document) -> str:
    """Write what a pull request or a CI step shows."""
    lines = [f"### {headline(document)}", ""]
    lines += [f"- {f'{label}: ' if label else ''}{what}" for label, what in facts(document)]
    lines += ["", f"**{said(document)}**", ""]
    lines += [f"- {warning}" for warning in document["warnings"]]
    return "\n".join(lines).rstrip() + "\n\n"


def as_csv(document: Document) -> str:
    """Write a line per round; none of a dry run."""
    return rounds_as_csv(() if document["result"] is None else read_profile(document["result"]).rounds)


RECALIBRATE_WRITERS: Mapping[ExportKind, Writer[Document]] = {
    ExportKind.JSON: as_json,
    ExportKind.MD: as_markdown,
    ExportKind.CSV: as_csv,
}
"""Formats of a recalibration."""
