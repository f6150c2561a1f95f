"""A recalibration in words, for every form that it is shown in: what changed, what is repeated, what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from profiler.job.configuration import Configuration
from profiler.report.words import change


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


def said(document: Mapping[str, Any]) -> str:
    """Say the verdict, and what it took."""
    if document["dry_run"]:
        return "dry run: nothing was measured"
    rounds = f"; a whole profile took {document['full_rounds']}" if document["scope"] != "all" else ""
    return f"{document['verdict']}: {document['conclusion']}{rounds}"


def _moved(each: Mapping[str, Any]) -> str:
    cost = f"{_figure(each['before_us'])} → {_figure(each['now_us'])} µs {each['quantity']} per source row"
    return f"'{each['operator']}' {cost} ({change(each['effect'])})"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
