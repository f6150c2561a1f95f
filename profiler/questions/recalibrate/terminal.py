"""A recalibration on a terminal: what changed, what is repeated, what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from profiler.questions.recalibrate.words import facts, headline, said
from profiler.questions.search.answer import Profile
from profiler.questions.search.paste import as_lines
from profiler.report.rounds_table import RoundsTable

_STYLES = {"confirmed": "green", "changed": "bold yellow", "inconclusive": "yellow"}
_WIDTH = 13
"""The width of the labels."""


def print_recalibration(console: Console, document: Mapping[str, Any], profile: Profile | None) -> None:
    """Print the whole recalibration."""
    console.print(Text(headline(document), "bold"))
    for label, what in facts(document):
        console.print(f"  {label:<{_WIDTH}}{what}")
    if profile is not None:
        console.print(Padding(RoundsTable(profile.records), (0, 0, 0, 2)), soft_wrap=False)
    if document["verdict"] == "changed" and profile is not None:
        console.print(Text("Settings to paste", "bold"))
        for line in as_lines(profile.settings):
            console.print(f"  {line}")
    console.print(_verdict(document))
    for warning in document["warnings"]:
        console.print(Text(f"warning: {warning}", "yellow"))


def _verdict(document: Mapping[str, Any]) -> Text:
    return Text(f"{said(document)} (exit {document['exit_code']})", _STYLES.get(document["verdict"], "bold"))
