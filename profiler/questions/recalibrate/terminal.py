"""A recalibration on a terminal and in Markdown: what changed, what is repeated, what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from profiler.job.configuration import Configuration
from profiler.questions.search.answer import Profile
from profiler.questions.search.document import read_profile
from profiler.questions.search.exports import rounds_as_csv
from profiler.questions.search.paste import as_lines
from profiler.report.rounds_table import rounds_table
from profiler.report.words import change
from profiler.report.writers import Document, Writer, as_json
from profiler.settings.declarations import ExportKind

_STYLES = {"confirmed": "green", "changed": "bold yellow", "inconclusive": "yellow"}
_WIDTH = 13
"""The width of the labels."""


def print_recalibration(console: Console, document: Mapping[str, Any], profile: Profile | None) -> None:
    """Print the whole recalibration."""
    console.print(Text(headline(document), "bold"))
    for label, what in facts(document):
        console.print(f"  {label:<{_WIDTH}}{what}")
    if profile is not None:
        console.print(Padding(rounds_table(profile.records), (0, 0, 0, 2)), soft_wrap=False)
    if document["verdict"] == "changed" and profile is not None:
        console.print(Text("Settings to paste", "bold"))
        for line in as_lines(profile.settings):
            console.print(f"  {line}")
    console.print(_verdict(document))
    for warning in document["warnings"]:
        console.print(Text(f"warning: {warning}", "yellow"))


def headline(document: Mapping[str, Any]) -> str:
    """Say what was recalibrated."""
    stored = document["profile"]
    tasks = Configuration.of(stored["tasks"], stored["offered_per_s"])
    about = f"profile {stored['run']}: {tasks}, {stored['throughput_per_s']:,.0f} rows/s"
    return f"Recalibrate: {document['topology']} on {document['engine']}, {about}"


def facts(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what changed, what follows from it, and what was found."""
    for each in document["differences"]:
        yield each["part"], each["what"]
    warm = document["warm_start"]
    if warm["run"] != document["profile"]["run"]:
        yield "warm start", f"profile {warm['run']} is nearer: {Configuration.of(warm['tasks'], warm['offered_per_s'])}"
        for each in warm["differences"]:
            yield "", f"{each['part']}: {each['what']}"
    yield "repeats", document["why"]
    if document["moved"] is not None:
        yield "features", "; ".join(map(_moved, document["moved"])) or "none moved"
    result = document["result"] or {}
    confirmed, verified = result.get("confirmed"), result.get("verified")
    if confirmed is not None:
        against = Configuration.of(result["initial"]["tasks"])
        bounds = f"{change(float(confirmed['low']))} to {change(float(confirmed['high']))}"
        yield "in blocks", f"{confirmed['verdict']} {change(confirmed['effect'])} ({bounds}) against {against}"
    if verified is not None:
        yield "production", "holds with its batches" if verified["passed"] else "does not hold with its batches"


def as_markdown(document: Document) -> str:
    """Write what a pull request or a CI step shows."""
    lines = [f"### {headline(document)}", ""]
    lines += [f"- {f'{label}: ' if label else ''}{what}" for label, what in facts(document)]
    lines += ["", f"**{_said(document)}**", ""]
    lines += [f"- {warning}" for warning in document["warnings"]]
    return "\n".join(lines).rstrip() + "\n\n"


def _verdict(document: Mapping[str, Any]) -> Text:
    return Text(f"{_said(document)} (exit {document['exit_code']})", _STYLES.get(document["verdict"], "bold"))


def _said(document: Mapping[str, Any]) -> str:
    if document["dry_run"]:
        return "dry run: nothing was measured"
    rounds = f"; a whole profile took {document['full_rounds']}" if document["scope"] != "all" else ""
    return f"{document['verdict']}: {document['conclusion']}{rounds}"


def _moved(each: Mapping[str, Any]) -> str:
    cost = f"{_figure(each['before_us'])} → {_figure(each['now_us'])} µs {each['quantity']} per source row"
    return f"'{each['operator']}' {cost} ({change(each['effect'])})"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _rounds_as_csv(document: Mapping[str, Any]) -> str:
    """Write a line per round; none of a dry run."""
    return rounds_as_csv(() if document["result"] is None else read_profile(document["result"]).rounds)


RECALIBRATE_WRITERS: Mapping[ExportKind, Writer[Document]] = {
    ExportKind.JSON: as_json,
    ExportKind.MD: as_markdown,
    ExportKind.CSV: _rounds_as_csv,
}
"""Formats of a recalibration."""
