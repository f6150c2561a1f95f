"""A gate's verdict on a terminal: every criterion with what was found and what could have been."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from profiler.job.configuration import Configuration
from profiler.questions.gate.criteria import Criterion
from profiler.questions.gate.words import LABELS
from profiler.report.verdict_terminal import print_verdict
from profiler.report.words import change

_STYLES = {"pass": "green", "saved": "green", "slower": "bold red", "inconclusive": "yellow"}
_MARKS = {"pass": "✓", "slower": "✗", "inconclusive": "?"}
_UNITS = {"us": "µs", "rows/s": "rows/s", "ms": "ms"}
_QUANTITIES = {"cpu": "CPU", "busy": "working time"}


def print_gate(console: Console, document: Mapping[str, Any]) -> None:
    """Print the whole verdict."""
    lines = (*_criteria(document), *_slower(document), *_drill(document), *_saved(document))
    print_verdict(console, headline(document), lines, document, _STYLES[document["verdict"]])


def headline(document: Mapping[str, Any]) -> str:
    """Say who was compared with whom."""
    baseline, tasks = document["baseline"], Configuration.of(document["tasks"])
    versions = [each["version"] for each in document["blocks"]]
    against = {
        "itself": "itself",
        "topology": baseline["name"],
        "revision": f"revision {baseline['name']}",
        "stored": f"the stored blocks of {baseline['name']}",
    }[baseline["kind"]]
    counts = f", {versions.count('baseline')} and {versions.count('candidate')} blocks" if versions else ""
    title = "Gate" if document["drill"] is None else "Gate, drilled"
    how = f" ({layout})" if counts and (layout := document["environment"].get("turns")) else ""
    return f"{title}: {document['topology']} on {document['engine']}, tasks {tasks}, against {against}{counts}{how}"


def figure(value: float | None, unit: str) -> str:
    """Write a value with its unit."""
    if value is None:
        return "unknown"
    return f"{value:,.0f} {_UNITS[unit]}" if abs(value) >= 1000 else f"{value:.3g} {_UNITS[unit]}"


def percentage(effect: float | None) -> str:
    """Write an effect; one that is not known may be any."""
    return "any" if effect is None else change(effect)


def interval_heading(document: Mapping[str, Any]) -> str:
    """Name the intervals by their level: both ends hold with the confidence of the look."""
    return f"{2 * document['confidence'] - 1:.0%} interval"


def _criteria(document: Mapping[str, Any]) -> Iterator[Text]:
    """Lay the criteria out within 80 columns; the candidate's own figures follow from the change."""
    rows = [
        (
            LABELS[Criterion(each["criterion"])],
            figure(each["baseline"], each["unit"]),
            percentage(each["effect"]),
            f"{percentage(each['low']).removesuffix('%')} to {percentage(each['high'])}",
            f"{each['adjusted_p']:.2g}",
            percentage(each["detectable_effect"]),
        )
        for each in document["criteria"]
    ]
    if not rows:
        return
    headings = ("criterion", "baseline", "change", interval_heading(document), "p", "detects")
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    yield Text(f"    {_aligned(headings, widths)}", "dim")
    for row, each in zip(rows, document["criteria"], strict=True):
        yield Text(f"  {_MARKS[each['verdict']]} {_aligned(row, widths)}", _STYLES[each["verdict"]])


def _aligned(cells: tuple[str, ...], widths: list[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    return "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)])


def _slower(document: Mapping[str, Any]) -> Iterator[Text]:
    """Name the operator that got slower, with what it adds."""
    all_us = sum(each["increase_us"] for each in document["operators"])
    for each in document["operators"]:
        if each["name"] == document["slower_operator"]:
            bounds = f"{percentage(each['low'])} to {percentage(each['high'])}"
            part = f"{each['increase_us']:+.3g} µs per row, all operators {all_us:+.3g}"
            quantity = _QUANTITIES[each["quantity"]]
            yield Text(f"  slower: '{each['name']}' {percentage(each['effect'])} {quantity} ({bounds}), {part}")


def _saved(document: Mapping[str, Any]) -> Iterator[Text]:
    if document["saved_baseline"] is not None:
        yield Text(f"  kept as baseline '{document['saved_baseline']}'")


def _drill(document: Mapping[str, Any]) -> Iterator[Text]:
    if document["drill"] is not None:
        yield Text(f"  drill: {drill_in_words(document['drill'])}")


def drill_in_words(drill: Mapping[str, Any]) -> str:
    """Say which operator was made slower on purpose, and what is expected of that."""
    share, longer = f"{drill['share']:.0%} of the CPU per row", f"works {drill['part']:.0%} longer"
    return f"'{drill['operator']}' ({share}) {longer}: {drill['expected_effect']:+.1%} expected"
