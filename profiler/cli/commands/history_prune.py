"""`profile history prune`: delete runs that nobody needs any more."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from profiler.cli.flags import with_settings
from profiler.errors import UsageError
from profiler.history.session.opening import opened_store
from profiler.settings.choices import EngineName
from profiler.settings.declarations import Settings
from profiler.settings.moments import moment
from profiler.settings.option import Command
from profiler.settings.quantities import choice

if TYPE_CHECKING:
    from profiler.history.baselines import SavedBaseline
    from profiler.history.pruning import Pruning
    from profiler.history.records import StoredRun
    from profiler.history.store import Store


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
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be deleted, delete nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    settings: Settings,
) -> int:
    """Delete runs: the named ones, or those that meet all the conditions. Baselines stay unless asked for."""
    named, conditions = tuple(runs or ()), (older_than, keep_last)
    if not named and conditions == (None, None):
        raise UsageError(
            "It is not said what to delete.", hint="Name runs, or give --older-than 30d or --keep-last 20."
        )
    if named and any(each is not None for each in (*conditions, topology, engine)):
        raise UsageError("RUN and conditions exclude each other.", hint="Name runs, or describe them.")
    on = None if engine is None else choice(EngineName).read(engine, "--engine")
    before = None if older_than is None else moment(datetime.now(UTC)).read(older_than, "--older-than")
    if not (yes or dry_run or _can_ask()):
        raise UsageError("There is nobody to ask whether to delete.", hint="Add --yes, or see first with --dry-run.")

    from profiler.history.pruning import Unwanted, carry_out, pruning
    from profiler.history.session.keeping import is_measured_now
    from profiler.history.terminal import print_runs
    from profiler.report.console import result_console

    console = result_console()
    with opened_store(settings) as store:
        found, baselines = _found(store, named, topology, on)
        chosen = pruning(
            found,
            baselines,
            Unwanted(before, keep_last, with_baselines=with_baselines),
            is_measured_now,
        )
        if chosen.runs:
            print_runs(console, chosen.runs)
        for line in _told(chosen):
            console.print(line)
        counted = f"{len(chosen.runs)} runs and {len(chosen.baselines)} baselines"
        if chosen.is_empty or dry_run:
            console.print("Nothing to delete." if chosen.is_empty else f"Would delete {counted}.")
        elif yes or typer.confirm(f"Delete {counted}?", err=True):
            carry_out(store, chosen)
            console.print(f"Deleted {counted}.")
        else:
            console.print("Nothing was deleted.")
    return 0


def _can_ask() -> bool:
    return sys.stdin.isatty()


def _found(
    store: Store, named: tuple[str, ...], topology: str | None, engine: str | None
) -> tuple[list[StoredRun], list[SavedBaseline]]:
    baselines = [
        each for each in store.baselines() if topology in (None, each.topology) and engine in (None, each.engine)
    ]
    if named:
        return [store.load_run(run) for run in dict.fromkeys(named)], baselines
    return store.find_runs(topology=topology, engine=engine, kind=None), baselines


def _told(chosen: Pruning) -> list[str]:
    lines = [f"baseline '{each.name}' of {each.topology} on {each.engine}" for each in chosen.baselines]
    lines += [
        f"kept: {each.run.id}, as baseline '{baseline.name}' of {baseline.topology} came from it (--with-baselines)"
        for each, baseline in chosen.protected
    ]
    return lines + [f"kept: {each.run.id}, as it is being measured" for each in chosen.written]
