"""The rounds of a search as a table: what was tried, what was found, what was decided."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from profiler.experiment.rounds import Round
from profiler.report.words import change


def rounds_table(rounds: Sequence[Round]) -> Table:
    """Lay out the rounds with what was tried, what was found and what was decided."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading, justify in (("#", "right"), ("action", "left"), ("tasks", "left"), ("rows/s", "right")):
        table.add_column(heading, justify="right" if justify == "right" else "left", no_wrap=heading != "tasks")
    table.add_column("against", justify="right", no_wrap=True)
    table.add_column("decision")
    for measured in rounds:
        table.add_row(
            str(measured.number),
            str(measured.trial.action),
            str(measured.configuration),
            f"{measured.throughput_per_s:,.0f}",
            _against(measured),
            _decision(measured),
        )
    return table


def _against(measured: Round) -> str:
    if measured.comparison is None:
        return "—"
    return f"#{measured.trial.against} {change(measured.comparison.effect)}"


def _decision(measured: Round) -> Text:
    decision = measured.decision
    if decision is None:
        return Text("…", "dim")
    mark, style = ("✓", "green") if decision.accepted else ("✗", "dim")
    return Text(f"{mark} {decision.why}", style)
