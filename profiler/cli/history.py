"""`profile history list|show|export|import`: what was measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from profiler.cli.flags import with_settings
from profiler.cli.stores import opened_store
from profiler.settings import Settings

if TYPE_CHECKING:
    from profiler.store.lines import History
    from profiler.store.records import StoredRun

app = typer.Typer(help="What was measured: list, show, export and import runs.", rich_markup_mode=None)

_FIRST_FIGURE = 5
"""Column of the list from which on there are figures, which are written flush right."""

RunName = Annotated[str, typer.Argument(metavar="RUN", help="A run's name; 'profile history list' shows them.")]


@app.command("list")
@with_settings("mongo", "debug")
def list_runs(
    *,
    topology: Annotated[str | None, typer.Option("--topology", metavar="NAME", help="Only runs of it.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="The newest so many.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")] = False,
    settings: Settings,
) -> int:
    """List the runs, the newest first."""
    with opened_store(settings) as store:
        runs = store.find_runs(topology=topology, limit=limit)
    if as_json:
        document = {"schema": "profile-history-list/1", "runs": [_entry(found) for found in runs]}
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        _print_list(runs)
    _tell_of_unsaved_files()
    return 0


@app.command("show")
@with_settings("mongo", "debug")
def show(run: RunName, *, settings: Settings) -> int:
    """Show a run: its answer and its rounds with what was decided."""
    with opened_store(settings) as store:
        found, rounds = store.load_run(run), store.rounds(run)

    from profiler.cli.console import result_console
    from profiler.report.terminal import rounds_table

    console = result_console()
    console.print(
        f"Run {run}: {found.run.topology} on {found.run.engine} by {found.run.policy}, started {_when(found)}",
        style="bold",
    )
    for line in _answer(found):
        console.print(f"  {line}")
    if rounds:
        console.print(rounds_table(rounds), soft_wrap=False)
    for warning in found.answer.warnings if found.answer else ():
        console.print(f"warning: {warning}", style="yellow")
    return 0


@app.command("export")
@with_settings("mongo", "debug")
def export(
    run: RunName,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it, as JSON lines.")],
    *,
    settings: Settings,
) -> int:
    """Write all of a run to a file that 'profile history import' reads, here or elsewhere."""
    from profiler.store.exchange import export_run

    with opened_store(settings) as store:
        history = export_run(store, run, file)
    typer.echo(f"Wrote run {run} to {file}: {_counted(history)}.")
    return 0


@app.command("import")
@with_settings("mongo", "debug")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Of an export, or saved by an interrupted run.")],
    *,
    settings: Settings,
) -> int:
    """Add a run from a file to the history; what is there already is not doubled."""
    from profiler.services.run_folder import cache_directory
    from profiler.store.exchange import put
    from profiler.store.lines import read_history
    from profiler.store.unsaved import unsaved_folder

    # Read before a server is started: a wrong file is refused at once.
    history = read_history(file)
    with opened_store(settings) as store:
        put(store, history)
    typer.echo(f"Imported run {history.run.id} ({history.run.topology}): {_counted(history)}.")
    if history.cut_off:
        _note(f"The last line of {file} was not finished when its run was killed; it is left out.")
    if file.absolute().parent == unsaved_folder(cache_directory()):
        file.unlink()
        _note(f"{file} is in the history now, and removed.")
    return 0


def _print_list(runs: list[StoredRun]) -> None:
    from profiler.cli.console import result_console

    console = result_console()
    if not runs:
        console.print("No runs.")
        return
    rows = [("run", "topology", "engine", "when", "best", "rows/s", "gain", "rounds")]
    rows += [(found.run.id, found.run.topology, found.run.engine, _when(found), *_figures(found)) for found in runs]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        cells = [
            cell.rjust(width) if column >= _FIRST_FIGURE else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        console.print("  ".join(cells), style=None if number else "bold")


def _figures(found: StoredRun) -> tuple[str, str, str, str]:
    from profiler.configuration import Configuration
    from profiler.report.words import change

    answer = found.answer
    if answer is None:
        return "unfinished", "", "", str(found.rounds)
    tasks = str(Configuration.of(answer.best.tasks, answer.best.offered_per_s))
    return tasks, f"{answer.best.throughput_per_s:,.0f}", change(answer.gain), str(found.rounds)


def _answer(found: StoredRun) -> list[str]:
    from profiler.report.words import change

    answer = found.answer
    if answer is None:
        return [f"unfinished: 'profile run TOPOLOGY --resume {found.run.id}' goes on with it"]
    best, latency, confirmed = answer.best, answer.best.latency_ms, answer.confirmed
    lines = [
        "tasks       " + ", ".join(f"{name} {count}" for name, count in best.tasks.items()),
        f"throughput  {best.throughput_per_s:,.0f} rows/s",
    ]
    if latency is not None:
        lines.append(f"latency     p50 {latency.p50:,.0f} ms, p95 {latency.p95:,.0f}, p99 {latency.p99:,.0f}")
    verdict = f"confirmed: {confirmed.verdict} {change(confirmed.effect)}" if confirmed else "not confirmed"
    return [*lines, f"gain        {change(answer.gain)}, {verdict}"]


def _entry(found: StoredRun) -> dict[str, Any]:
    from dataclasses import asdict

    from profiler.documents import plain

    entry: dict[str, Any] = plain(
        {
            "run": found.run.id,
            "topology": found.run.topology,
            "engine": found.run.engine,
            "policy": found.run.policy,
            "started": found.run.started.isoformat(),
            "rounds": found.rounds,
            "answer": None if found.answer is None else asdict(found.answer),
        }
    )
    return entry


def _when(found: StoredRun) -> str:
    return f"{found.run.started.astimezone():%Y-%m-%d %H:%M}"


def _counted(history: History) -> str:
    from profiler.rounds import Round
    from profiler.store.records import Result, SeenWindow

    rounds, windows = history.count(Round), history.count(SeenWindow)
    answer = "with its answer" if history.count(Result) else "without an answer"
    return f"{rounds} rounds, {windows} windows, {answer}"


def _tell_of_unsaved_files() -> None:
    from profiler.services.run_folder import cache_directory
    from profiler.store.unsaved import unsaved_files

    for path in unsaved_files(cache_directory()):
        _note(f"A run waits to be imported: profile history import {path}")


def _note(text: str) -> None:
    from profiler.cli.console import error_console

    error_console().print(text, style="yellow")
