"""Reports of a profile for other programs: its document as JSON, its rounds as CSV."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from profiler.questions.search.answer import Profile, ProfileRound
from profiler.questions.search.markdown import as_markdown
from profiler.report.writers import Writer, as_json, csv_table
from profiler.settings.choices import ExportKind

COLUMNS = ("number", "step", "action", "tasks", "rows_per_s", "effect", "p", "decision", "why")


def as_csv(profile: Profile) -> str:
    """Write a line per round."""
    return rounds_as_csv(profile.rounds)


def rounds_as_csv(rounds: Iterable[ProfileRound]) -> str:
    """Write a line for each of these rounds."""
    return csv_table(COLUMNS, map(_row, rounds))


def _row(seen: ProfileRound) -> dict[str, Any]:
    return {
        "number": seen.number,
        "step": seen.step,
        "action": seen.action,
        "tasks": " ".join(str(count) for count in seen.tasks.values()),
        "rows_per_s": round(seen.mean_per_s, 1),
        "effect": "" if seen.comparison is None else seen.comparison.effect,
        "p": "" if seen.comparison is None else seen.comparison.p,
        "decision": seen.decision,
        "why": seen.why,
    }


PROFILE_WRITERS: Mapping[ExportKind, Writer[Profile]] = {
    ExportKind.JSON: as_json,
    ExportKind.CSV: as_csv,
    ExportKind.MD: as_markdown,
}
"""Formats of a profile."""
