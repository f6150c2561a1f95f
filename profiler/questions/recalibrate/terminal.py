"""A recalibration on a terminal: what changed, what is repeated, what came of it."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from profiler.questions.recalibrate.answer import RecalibrateAnswer
from profiler.questions.recalibrate.decision import RecalibrationVerdict
from profiler.questions.recalibrate.words import facts, headline, said
from profiler.questions.search.paste import as_lines
from profiler.report.rounds_table import RoundsTable

_STYLES = {"confirmed": "green", "changed": "bold yellow", "inconclusive": "yellow"}
_WIDTH = 13
"""The width of the labels."""


def print_recalibration(console: Console, answer: RecalibrateAnswer) -> None:
    """Print the whole recalibration."""
    console.print(Text(headline(answer), "bold"))
    for label, what in facts(answer):
        console.print(f"  {label:<{_WIDTH}}{what}")
    if answer.result is not None:
        console.print(Padding(RoundsTable(answer.result.records), (0, 0, 0, 2)), soft_wrap=False)
    if answer.verdict is RecalibrationVerdict.CHANGED and answer.result is not None:
        console.print(Text("Settings to paste", "bold"))
        for line in as_lines(answer.result.settings):
            console.print(f"  {line}")
    console.print(_verdict(answer))
    for warning in answer.warnings:
        console.print(Text(f"warning: {warning}", "yellow"))


def _verdict(answer: RecalibrateAnswer) -> Text:
    return Text(
        f"{said(answer)} (exit {answer.exit_code})", "bold" if answer.verdict is None else _STYLES[answer.verdict]
    )
