"""Reports of a recalibration for other programs and for pull requests."""

from __future__ import annotations

from collections.abc import Mapping

from profiler.questions.recalibrate.answer import RecalibrateAnswer
from profiler.questions.recalibrate.words import facts, headline, said
from profiler.questions.search.exports import rounds_as_csv
from profiler.report.writers import Writer, as_json
from profiler.settings.choices import ExportKind


def as_markdown(answer: RecalibrateAnswer) -> str:
    """Write what a pull request or a CI step shows."""
    lines = [f"### {headline(answer)}", ""]
    lines += [f"- {f'{label}: ' if label else ''}{what}" for label, what in facts(answer)]
    lines += ["", f"**{said(answer)}**", ""]
    lines += [f"- {warning}" for warning in answer.warnings]
    return "\n".join(lines).rstrip() + "\n\n"


def as_csv(answer: RecalibrateAnswer) -> str:
    """Write a line per round; none of a dry run."""
    return rounds_as_csv(() if answer.result is None else answer.result.rounds)


RECALIBRATE_WRITERS: Mapping[ExportKind, Writer[RecalibrateAnswer]] = {
    ExportKind.JSON: as_json,
    ExportKind.MD: as_markdown,
    ExportKind.CSV: as_csv,
}
"""Formats of a recalibration."""
