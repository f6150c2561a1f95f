"""A comparison on a terminal: the ranking with throughput, latency, slots and rounds, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from profiler.report.verdict_terminal import print_verdict
from profiler.report.words import change

_STYLES = {"faster": "bold green", "tie": "green", "inconclusive": "yellow"}
_LEFT = ("variant",)
"""Headings of columns that are written flush left."""


def print_comparison(console: Console, document: Mapping[str, Any]) -> None:
    """Print the whole result."""
    lines = (*_table(document), *_variants(document), *_other_pairs(document))
    print_verdict(console, headline(document), lines, document, _STYLES[document["verdict"]])


def headline(document: Mapping[str, Any]) -> str:
    """Say who was compared, and how long it was looked."""
    variants = document["variants"]
    counts = sorted({each["blocks"] for each in variants})
    blocks = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    slots = "" if document["slots"] is None else f", at most {document['slots']} slots each"
    return f"Compare: {len(variants)} variants on {document['engine']}{slots}, {blocks} blocks each"


def cells(document: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Give the table, its headings first; for the terminal and for Markdown."""
    yield ("#", "variant", "rows/s", "change", "interval", "p", "p50/p95/p99 ms", "slots", "rounds")
    for each in document["variants"]:
        against, latency = each["against_first"], each["latency_ms"]
        yield (
            str(each["rank"]),
            each["name"],
            "unknown" if each["throughput_per_s"] is None else f"{each['throughput_per_s']:,.0f}",
            "" if against is None else change(against["effect"]),
            "" if against is None else _interval(against),
            "" if against is None else f"{against['adjusted_p']:.1g}",
            "unknown" if latency is None else "/".join(_milliseconds(latency[key]) for key in ("p50", "p95", "p99")),
            str(each["slots"]),
            str(each["profile"]["rounds"]),
        )


def described(each: Mapping[str, Any]) -> str:
    """Say with which tasks a variant ran, and where they come from."""
    tasks = ", ".join(f"{name} {count}" for name, count in each["tasks"].items())
    profile = each["profile"]
    origin = "stored profile" if profile["reused"] else "profiled now"
    run = f", run {profile['run']}" if profile["run"] else ""
    offered = "" if each["offered_per_s"] is None else f", offered {each['offered_per_s']:,.0f} rows/s at the most"
    at = f"latency at {each['latency_at_per_s']:,.0f} rows/s"
    return f"{each['name']}: {tasks}{offered} ({origin}{run}; {at})"


def other_pairs(document: Mapping[str, Any]) -> Iterator[str]:
    """Say how variants compare of which none is the first."""
    first = document["variants"][0]["name"]
    for pair in document["pairs"]:
        if first not in (pair["variant"], pair["against"]):
            yield (
                f"{pair['variant']} against {pair['against']}: {pair['verdict']}, {change(pair['effect'])} "
                f"({_interval(pair)}, p {pair['adjusted_p']:.1g})"
            )


def _milliseconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def _interval(found: Mapping[str, Any]) -> str:
    low, high = ("any" if end is None else change(end) for end in (found["low"], found["high"]))
    return f"{low} to {high}"


def _table(document: Mapping[str, Any]) -> Iterator[Text]:
    headings, *rows = cells(document)
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    yield Text(f"  {_aligned(headings, headings, widths)}", "dim")
    for row, each in zip(rows, document["variants"], strict=True):
        yield Text(f"  {_aligned(row, headings, widths)}", "bold" if each["name"] in document["fastest"] else "")


def _aligned(row: Sequence[str], headings: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(
        cell.ljust(width) if heading in _LEFT else cell.rjust(width)
        for cell, heading, width in zip(row, headings, widths, strict=True)
    )


def _variants(document: Mapping[str, Any]) -> Iterator[Text]:
    for each in document["variants"]:
        yield Text(f"  {described(each)}", "dim")


def _other_pairs(document: Mapping[str, Any]) -> Iterator[Text]:
    for said in other_pairs(document):
        yield Text(f"  {said}")
