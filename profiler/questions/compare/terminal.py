"""A comparison on a terminal: the ranking with throughput, latency, slots and rounds, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from profiler.experiment.observation import Latency
from profiler.questions.compare.answer import AgainstFirst, CompareAnswer, PairAnswer, VariantAnswer
from profiler.report.verdict_terminal import print_verdict
from profiler.report.words import change

_STYLES = {"faster": "bold green", "tie": "green", "inconclusive": "yellow"}
_LEFT = ("variant",)
"""Headings of columns that are written flush left."""


def print_comparison(console: Console, answer: CompareAnswer) -> None:
    """Print the whole result."""
    lines = (*_table(answer), *_variants(answer), *_other_pairs(answer))
    print_verdict(console, headline(answer), lines, answer, _STYLES[answer.verdict])


def headline(answer: CompareAnswer) -> str:
    """Say who was compared, and how long it was looked."""
    counts = sorted({each.blocks for each in answer.variants})
    blocks = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    slots = "" if answer.slots is None else f", at most {answer.slots} slots each"
    return f"Compare: {len(answer.variants)} variants on {answer.engine}{slots}, {blocks} blocks each"


def cells(answer: CompareAnswer) -> Iterator[tuple[str, ...]]:
    """Give the table, its headings first; for the terminal and for Markdown."""
    yield ("#", "variant", "rows/s", "change", "interval", "p", "p50/p95/p99 ms", "slots", "rounds")
    for each in answer.variants:
        against = each.against_first
        yield (
            str(each.rank),
            each.name,
            "unknown" if each.throughput_per_s is None else f"{each.throughput_per_s:,.0f}",
            "" if against is None else change(against.effect),
            "" if against is None else _interval(against),
            "" if against is None else f"{against.adjusted_p:.1g}",
            "unknown" if each.latency_ms is None else _quantiles(each.latency_ms),
            str(each.slots),
            str(each.profile.rounds),
        )


def described(each: VariantAnswer) -> str:
    """Say with which tasks a variant ran, and where they come from."""
    tasks = ", ".join(f"{name} {count}" for name, count in each.tasks.items())
    origin = "stored profile" if each.profile.reused else "profiled now"
    run = f", run {each.profile.run}" if each.profile.run else ""
    offered = "" if each.offered_per_s is None else f", offered {each.offered_per_s:,.0f} rows/s at the most"
    at = f"latency at {each.latency_at_per_s:,.0f} rows/s"
    kept_per_s = each.profile.kept_per_s
    keeps = "" if kept_per_s is None else f", which kept the latency at {kept_per_s:,.0f} rows/s alone"
    return f"{each.name}: {tasks}{offered} ({origin}{run}{keeps}; {at})"


def other_pairs(answer: CompareAnswer) -> Iterator[str]:
    """Say how variants compare of which none is the first."""
    first = answer.variants[0].name
    for pair in answer.pairs:
        if first not in (pair.variant, pair.against):
            yield (
                f"{pair.variant} against {pair.against}: {pair.verdict}, {change(pair.effect)} "
                f"({_interval(pair)}, p {pair.adjusted_p:.1g})"
            )


def _quantiles(latency: Latency) -> str:
    return "/".join(map(_milliseconds, (latency.p50, latency.p95, latency.p99)))


def _milliseconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def _interval(found: AgainstFirst | PairAnswer) -> str:
    low, high = ("any" if end is None else change(end) for end in (found.low, found.high))
    return f"{low} to {high}"


def _table(answer: CompareAnswer) -> Iterator[Text]:
    headings, *rows = cells(answer)
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    yield Text(f"  {_aligned(headings, headings, widths)}", "dim")
    for row, each in zip(rows, answer.variants, strict=True):
        yield Text(f"  {_aligned(row, headings, widths)}", "bold" if each.name in answer.fastest else "")


def _aligned(row: Sequence[str], headings: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(
        cell.ljust(width) if heading in _LEFT else cell.rjust(width)
        for cell, heading, width in zip(row, headings, widths, strict=True)
    )


def _variants(answer: CompareAnswer) -> Iterator[Text]:
    for each in answer.variants:
        yield Text(f"  {described(each)}", "dim")


def _other_pairs(answer: CompareAnswer) -> Iterator[Text]:
    for said in other_pairs(answer):
        yield Text(f"  {said}")
