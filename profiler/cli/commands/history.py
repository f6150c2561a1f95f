"""`profile history list|show|export|import|prune`: what was measured."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from profiler.cli.flags import with_settings
from profiler.errors import UsageError
from profiler.settings.declarations import Settings
from profiler.settings.option import Command

app = typer.Typer(help="What was measured: list, show, export, import and prune runs.", rich_markup_mode=None)

RunName = Annotated[str, typer.Argument(metavar="RUN", help="A run's name; 'profile history list' shows them.")]

# What a command does is imported when it is called: the help must answer without a database's client (0.4 s).


@app.command("prune")
@with_settings(Command.HISTORY)
def prune(
    runs: Annotated[list[str] | None, typer.Argument(metavar="RUN", help="Delete these.")] = None,
    *,
    older_than: Annotated[
        str | None, typer.Option("--older-than", metavar="MOMENT", help="Delete what started before: 30d, 2026-01-31.")
    ] = None,
    keep_last: Annotated[
        int | None,
        typer.Option("--keep-last", min=0, metavar="N", help="Keep the newest N of every topology, engine and kind."),
    ] = None,
    topology: Annotated[str | None, typer.Option("--topology", metavar="NAME", help="Only runs of it.")] = None,
    engine: Annotated[str | None, typer.Option("--engine", metavar="spark|simulated", help="Only runs on it.")] = None,
    with_baselines: Annotated[
        bool, typer.Option("--with-baselines", help="Delete gates that a baseline came from, and the baseline, too.")
    ] = False,
    unreadable: Annotated[
        bool, typer.Option("--unreadable", help="Delete the runs and baselines that can't be read.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be deleted, delete nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    settings: Settings,
) -> int:
    """Delete runs: the named ones, or those that meet all the conditions. Baselines stay unless asked for."""
    from profiler.questions.archive.removal import Prunable, prune_runs

    wanted = Prunable.read(
        tuple(runs or ()),
        older_than,
        keep_last,
        topology,
        engine,
        with_baselines=with_baselines,
        unreadable=unreadable,
    )
    if not (yes or dry_run or can_ask()):
        raise UsageError("There is nobody to ask whether to delete.", hint="Add --yes, or see first with --dry-run.")
    return prune_runs(wanted, settings, lambda asked: yes or typer.confirm(asked, err=True), dry_run=dry_run)


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
    from profiler.questions.archive.listing import Conditions, list_runs

    return list_runs(Conditions.read(topology, engine, kind, state, since, limit), settings, as_json=as_json)


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
    from profiler.questions.archive.showing import show_run

    return show_run(run, settings, as_json=as_json)


@app.command("export")
@with_settings(Command.HISTORY)
def export(
    run: RunName,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it, as JSON lines.")],
    *,
    force: Annotated[bool, typer.Option("--force", help="Also where something of that name is there.")] = False,
    settings: Settings,
) -> int:
    """Write all of a run to a file that 'profile history import' reads, here or elsewhere.

    A gate takes the baselines along that it was saved as; an import does not replace one that was saved later.
    """
    from profiler.questions.archive.exchange import export_to

    return export_to(run, file, settings, force=force)


@app.command("import")
@with_settings(Command.HISTORY)
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Of an export, or saved by an interrupted run.")],
    *,
    settings: Settings,
) -> int:
    """Add a run from a file to the history; what is there already is not doubled."""
    from profiler.questions.archive.exchange import import_from

    return import_from(file, settings)


def can_ask() -> bool:
    """Tell whether there is somebody to answer."""
    return sys.stdin.isatty()
