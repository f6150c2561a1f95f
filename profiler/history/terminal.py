"""Stored runs as a list: a table for people, entries for scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console

from profiler.history.baselines import SavedBaseline
from profiler.history.records import RunKind, StoredRun
from profiler.history.unreadable import shortened
from profiler.job.configuration import Configuration
from profiler.report.documents import plain
from profiler.report.words import change, counted

_HEADINGS = ("run", "kind", "topology", "engine", "when", "result", "rows/s", "gain", "measured")
_FIRST_FIGURE = _HEADINGS.index("rows/s")
"""Column from which on there are figures, which are written flush right."""


def print_runs(console: Console, runs: Sequence[StoredRun]) -> None:
    """Print a line per run."""
    if not runs:
        console.print("No runs.")
        return
    rows = [_HEADINGS, *map(_row, runs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = [
            cell.rjust(width) if column >= _FIRST_FIGURE else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        console.print("  ".join(cells), style=None if number else "bold")


def print_baselines(console: Console, baselines: Sequence[SavedBaseline]) -> None:
    """Print a line per baseline, where there is one."""
    for each in baselines:
        of = "" if each.run is None else f", of run {each.run}"
        console.print(
            f"baseline '{each.name}' of {each.topology} on {each.engine}, "
            f"saved {each.saved.astimezone():%Y-%m-%d %H:%M}{of}",
            highlight=False,
            soft_wrap=True,
        )


def baseline_entry(saved: SavedBaseline) -> dict[str, Any]:
    """Return what a script may want to know of a baseline."""
    entry: dict[str, Any] = plain({**asdict(saved), "saved": saved.saved.isoformat()})
    return entry


def run_entry(found: StoredRun) -> dict[str, Any]:
    """Return what a script may want to know of a run."""
    run = found.run
    entry: dict[str, Any] = plain(
        {
            "run": run.id,
            "kind": run.kind,
            "topology": run.topology,
            "engine": run.engine,
            "policy": run.policy,
            "started": run.started.isoformat(),
            "state": found.state,
            "rounds": found.rounds,
            "blocks": found.blocks,
            "answer": None if found.answer is None else asdict(found.answer),
            "gate": None if found.gate is None else asdict(found.gate),
        }
    )
    return entry


def when(found: StoredRun) -> str:
    """Say when a run started, in local time."""
    return f"{found.run.started.astimezone():%Y-%m-%d %H:%M}"


def _row(found: StoredRun) -> tuple[str, ...]:
    run = found.run
    named = (shortened(run.id), str(run.kind), shortened(run.topology), shortened(run.engine), when(found))
    return (*named, *(_of_profile(found) if run.kind is RunKind.PROFILE else _of_blocks(found)))


def _of_profile(found: StoredRun) -> tuple[str, str, str, str]:
    answer, measured = found.answer, counted(found.rounds, "round")
    if answer is None:
        return "unfinished", "", "", measured
    tasks = str(Configuration.of(answer.best.tasks, answer.best.offered_per_s))
    return tasks, f"{answer.best.throughput_per_s:,.0f}", change(answer.gain), measured


def _of_blocks(found: StoredRun) -> tuple[str, str, str, str]:
    """Return what gates and comparisons have: blocks and a verdict."""
    return "unfinished" if found.gate is None else found.gate.verdict, "", "", counted(found.blocks, "block")
