"""`profile history list|show|export|import|prune`: what was measured."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from profiler.cli.commands.history_prune import prune
from profiler.cli.flags import with_settings
from profiler.errors import UsageError
from profiler.history.session.opening import opened_store
from profiler.report.words import counted
from profiler.settings.choices import EngineName
from profiler.settings.declarations import Settings
from profiler.settings.moments import moment
from profiler.settings.option import Command
from profiler.settings.quantities import choice

if TYPE_CHECKING:
    from rich.console import Console

    from profiler.experiment.rounds import Round
    from profiler.history.files.lines import History
    from profiler.history.records import StoredRun

app = typer.Typer(help="What was measured: list, show, export, import and prune runs.", rich_markup_mode=None)
app.command("prune")(prune)

RunName = Annotated[str, typer.Argument(metavar="RUN", help="A run's name; 'profile history list' shows them.")]


@app.command("list")
@with_settings(Command.HISTORY)
def list_runs(
    *,
    topology: Annotated[str | None, typer.Option("--topology", metavar="NAME", help="Only runs of it.")] = None,
    engine: Annotated[str | None, typer.Option("--engine", metavar="spark|simulated", help="Only runs on it.")] = None,
    kind: Annotated[str | None, typer.Option("--kind", metavar="profile|gate|compare", help="Only such runs.")] = None,
    state: Annotated[
        str | None,
        typer.Option("--state", metavar="finished|cut-short|unfinished", help="Only runs that came so far."),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="MOMENT", help="Only runs started since: 7d, 12h, 2026-01-31.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="The newest so many.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")] = False,
    settings: Settings,
) -> int:
    """List the runs, the newest first, and the baselines of gates; the conditions add up."""
    from profiler.history.records import RunKind, RunState
    from profiler.history.terminal import baseline_entry, print_baselines, print_runs, run_entry
    from profiler.report.console import result_console

    on = None if engine is None else choice(EngineName).read(engine, "--engine")
    of_kind = None if kind is None else choice(RunKind).read(kind, "--kind")
    in_state = None if state is None else choice(RunState).read(state, "--state")
    after = None if since is None else moment(datetime.now(UTC)).read(since, "--since")
    with opened_store(settings) as store:
        runs = store.find_runs(topology=topology, engine=on, kind=of_kind, state=in_state, since=after, limit=limit)
        saved = [
            each
            for each in store.baselines()
            if topology in (None, each.topology)
            and on in (None, each.engine)
            and of_kind in (None, RunKind.GATE)
            and in_state in (None, RunState.FINISHED)
            and (after is None or each.saved >= after)
        ]
    if as_json:
        document = {
            "schema": "profile-history-list/1",
            "runs": [run_entry(found) for found in runs],
            "baselines": [baseline_entry(each) for each in saved],
        }
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        print_runs(result_console(), runs)
        print_baselines(result_console(), saved)
    _tell_of_unsaved_files()
    return 0


@app.command("show")
@with_settings(Command.HISTORY)
def show(
    run: RunName,
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON; of a recalibration, the profile it ended with.")
    ] = False,
    settings: Settings,
) -> int:
    """Show a run: its answer and its rounds with what was decided, or the verdict of a gate."""
    with opened_store(settings) as store:
        found, rounds, result = store.load_run(run), store.rounds(run), store.result(run)
    if as_json:
        if result is None:
            raise UsageError(f"Run '{run}' is unfinished, so it has no result.", hint="Leave --json out to see it.")
        from profiler.report.writers import as_json as written

        typer.echo(written(result), nl=False)
        return 0
    from profiler.history.terminal import when
    from profiler.report.console import result_console

    console = result_console()
    console.print(
        f"Run {run}: {found.run.topology} on {found.run.engine}{_how(found)}, started {when(found)}", style="bold"
    )
    if result is None:
        _print_unfinished(console, found, rounds)
    else:
        _printer(found)(console, result)
    return 0


@app.command("export")
@with_settings(Command.HISTORY)
def export(
    run: RunName,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it, as JSON lines.")],
    *,
    settings: Settings,
) -> int:
    """Write all of a run to a file that 'profile history import' reads, here or elsewhere.

    A gate takes the baselines along that it was saved as; an import does not replace one that was saved later.
    """
    from profiler.history.files.exchange import export_run

    with opened_store(settings) as store:
        history = export_run(store, run, file)
    typer.echo(f"Wrote run {run} to {file}: {_counted(history)}.")
    return 0


@app.command("import")
@with_settings(Command.HISTORY)
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Of an export, or saved by an interrupted run.")],
    *,
    settings: Settings,
) -> int:
    """Add a run from a file to the history; what is there already is not doubled."""
    from profiler.history.files.exchange import put
    from profiler.history.files.lines import read_history
    from profiler.history.files.unsaved import unsaved_folder
    from profiler.services.run_folder import cache_directory

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


def _how(found: StoredRun) -> str:
    if found.run.policy:
        return f" by {found.run.policy}"
    against = found.run.parameters.get("against")
    if not isinstance(against, str):
        return ""
    kind, _, name = against.partition(" ")  # of a job that met itself both are "itself"
    return f" against {name if kind == name else against}"


def _printer(found: StoredRun) -> Callable[[Console, Mapping[str, Any]], None]:
    """Return what prints the result of a run as the command did that it is of."""
    from profiler.history.records import RunKind

    if found.run.kind is RunKind.COMPARE:
        from profiler.questions.compare.document import read_comparison
        from profiler.questions.compare.terminal import print_comparison

        return lambda console, result: print_comparison(console, read_comparison(result))
    if found.run.kind is RunKind.GATE:
        from profiler.questions.gate.document import read_gate
        from profiler.questions.gate.terminal import print_gate

        return lambda console, result: print_gate(console, read_gate(result))
    from profiler.questions.search.document import read_profile
    from profiler.questions.search.terminal import print_profile

    return lambda console, result: print_profile(console, read_profile(result))


def _print_unfinished(console: Console, found: StoredRun, rounds: Sequence[Round]) -> None:
    from profiler.questions.going_on import call_to_go_on
    from profiler.report.rounds_table import RoundsTable

    done = f" after {counted(found.blocks, 'block')}" if found.blocks else ""
    console.print(f"  unfinished{done}: {call_to_go_on(found.run)} goes on with it")
    if rounds:
        console.print(RoundsTable(list(rounds)), soft_wrap=False)


def _counted(history: History) -> str:
    from profiler.experiment.rounds import Round
    from profiler.history.records import MeasuredBlock, Result, SeenWindow

    blocks, windows = history.count(MeasuredBlock), history.count(SeenWindow)
    measured = counted(blocks, "block") if blocks else counted(history.count(Round), "round")
    answer = "with its answer" if history.count(Result) else "without an answer"
    baselines = "".join(f", baseline '{each.name}'" for each in history.baselines)
    return f"{measured}, {windows} windows, {answer}{baselines}"


def _tell_of_unsaved_files() -> None:
    from profiler.history.files.unsaved import unsaved_files
    from profiler.services.run_folder import cache_directory

    for path in unsaved_files(cache_directory()):
        _note(f"A run waits to be imported: profile history import {path}")


def _note(text: str) -> None:
    from profiler.report.console import error_console

    error_console().print(text, style="yellow")
