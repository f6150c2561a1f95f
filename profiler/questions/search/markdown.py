"""A profile in Markdown, as a pull request or the summary of a CI step shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from profiler.questions.search.paste import PasteSettings, as_lines
from profiler.report.words import change

Document = Mapping[str, Any]


def as_markdown(document: Document) -> str:
    """Write the answer, how sure it is, the rounds and the settings to paste."""
    heading = f"### profile: {document['topology']} on {document['engine']}"
    parts = [heading, _answer(document), _rounds(document), _settings(document)]
    if document["warnings"]:
        parts.append("\n".join(f"- {warning}" for warning in document["warnings"]))
    return "\n\n".join(parts) + "\n\n"


def _answer(document: Document) -> str:
    best = document["best"]
    tasks = ", ".join(f"{name} {count}" for name, count in best["tasks"].items())
    speed = f"**{best['throughput_per_s']:,.0f} rows/s** with {best['slots']} slots: {tasks}"
    is_late = best.get("keeps_latency") and not document["initial"].get("keeps_latency", True)
    late = " over a start that is later than the latency constraint allows" if is_late else ""
    lines = [f"{speed} (gain {change(document['gain'])}{late}); {best['holds']}.", *_evidence(document)]
    return "\n".join([lines[0], "", *lines[1:]] if lines[1:] else lines)


def _evidence(document: Document) -> Iterator[str]:
    latency, confirmed, verified = document["best"]["latency_ms"], document["confirmed"], document["verified"]
    if latency is not None:
        yield f"- latency p50 {latency['p50']:,.0f} ms, p95 {latency['p95']:,.0f}, p99 {latency['p99']:,.0f}"
    if confirmed is not None:
        yield (
            f"- confirmed: {confirmed['verdict']} {change(float(confirmed['effect']))} "
            f"({change(float(confirmed['low']))} to {change(float(confirmed['high']))}, p {float(confirmed['p']):.2g})"
        )
    else:
        yield "- not confirmed"
    if verified is not None:
        less = verified.get("less")
        at_less = f", but at {less['rate_per_s']:,.0f} rows/s it does" if less and less["passed"] else ""
        yield f"- with production's batches it {'holds' if verified['passed'] else f'does **not** hold{at_less}'}"
    if not document["complete"]:
        yield "- the time was up before the search ended"


def _rounds(document: Document) -> str:
    lines = ["| # | action | tasks | rows/s | change | p | decision |", "|--:|---|---|--:|--:|--:|---|"]
    for seen in document["rounds"]:
        comparison, throughputs = seen["comparison"], seen["throughput_per_s"]
        cells = [
            str(seen["number"]),
            seen["action"],
            " ".join(str(count) for count in seen["tasks"].values()),
            f"{sum(throughputs) / len(throughputs):,.0f}",
            "" if comparison is None else change(float(comparison["effect"])),
            "" if comparison is None else f"{float(comparison['p']):.2g}",
            f"{seen['decision'] or 'open'}: {seen['why']}",
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def _settings(document: Document) -> str:
    known = {each.name for each in fields(PasteSettings)}
    settings = PasteSettings(**{name: value for name, value in document["settings"].items() if name in known})
    return "\n".join(["Settings to paste:", "```", *as_lines(settings), "```"])
