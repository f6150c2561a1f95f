"""Delete runs that nobody needs any more, and what can't be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from profiler.errors import UsageError
from profiler.history.baselines import SavedBaseline
from profiler.history.mongo.opening import opened_store
from profiler.history.pruning import Pruning, Unwanted, carry_out, pruning
from profiler.history.records import StoredRun
from profiler.history.session.keeping import is_measured_now
from profiler.history.store import Store, UnreadableRun
from profiler.history.terminal import print_runs
from profiler.history.unreadable import Unreadable
from profiler.report.console import result_console
from profiler.report.words import counted
from profiler.settings.choices import EngineName
from profiler.settings.declarations import Settings
from profiler.settings.moments import moment
from profiler.settings.quantities import choice


@dataclass(frozen=True, slots=True)
class Prunable:
    """What is to be deleted: the named runs, or those that meet all the conditions."""

    named: tuple[str, ...]
    older_than: datetime | None
    keep_last: int | None
    topology: str | None
    engine: str | None
    with_baselines: bool
    unreadable: bool
    """Whether what can't be read is deleted, and nothing else."""

    @classmethod
    def read(
        cls,
        named: tuple[str, ...],
        older_than: str | None,
        keep_last: int | None,
        topology: str | None,
        engine: str | None,
        *,
        with_baselines: bool,
        unreadable: bool,
    ) -> Prunable:
        """Read the flags; UsageError where it is not said what to delete, or said twice."""
        bounds = (older_than, keep_last)
        if not named and not unreadable and bounds == (None, None):
            raise UsageError(
                "It is not said what to delete.", hint="Name runs, or give --older-than 30d or --keep-last 20."
            )
        conditions = any(each is not None for each in (*bounds, topology, engine))
        if (named or unreadable) and (conditions or (named and unreadable)):
            raise UsageError("RUN and conditions exclude each other.", hint="Name runs, or describe them.")
        on = None if engine is None else choice(EngineName).read(engine, "--engine")
        before = None if older_than is None else moment(datetime.now(UTC)).read(older_than, "--older-than")
        return cls(named, before, keep_last, topology, on, with_baselines, unreadable)


def prune_runs(wanted: Prunable, settings: Settings, confirm: Callable[[str], bool], *, dry_run: bool) -> int:
    """Show what would be deleted, and delete it where that is confirmed."""
    console = result_console()
    with opened_store(settings) as store:
        spoiled: list[Unreadable] = []
        found, baselines = _found(store, wanted, spoiled)
        unwanted = Unwanted(wanted.older_than, wanted.keep_last, with_baselines=wanted.with_baselines)
        chosen = pruning(found, baselines, unwanted, is_measured_now)
        if chosen.runs:
            print_runs(console, chosen.runs)
        for line in (*map(str, spoiled), *_told(chosen)):
            console.print(line)
        runs = len(chosen.runs) + sum(isinstance(each.name, str) for each in spoiled)
        all_of_it = len(chosen.runs) + len(chosen.baselines) + len(spoiled)
        told = f"{counted(runs, 'run')} and {counted(all_of_it - runs, 'baseline')}"
        if not all_of_it or dry_run:
            console.print(f"Would delete {told}." if all_of_it else "Nothing to delete.")
        elif confirm(f"Delete {told}?"):
            _delete(store, spoiled)
            carry_out(store, chosen)
            console.print(f"Deleted {told}.")
        else:
            console.print("Nothing was deleted.")
    return 0


def _found(store: Store, wanted: Prunable, spoiled: list[Unreadable]) -> tuple[list[StoredRun], list[SavedBaseline]]:
    """Return what is deleted or kept by the conditions; what is deleted though it can't be read is put apart."""
    unread: list[Unreadable] = []
    baselines = [
        each
        for each in store.baselines(unread.append)
        if wanted.topology in (None, each.topology) and wanted.engine in (None, each.engine)
    ]
    if wanted.named:
        return _named(store, wanted.named, spoiled), baselines
    found = store.find_runs(topology=wanted.topology, engine=wanted.engine, kind=None, spoiled=unread.append)
    if not wanted.unreadable:
        return found, baselines
    # What a newer profile wrote is deleted by its name only.
    spoiled += [each for each in unread if not each.is_newer]
    return [], []


def _named(store: Store, names: tuple[str, ...], spoiled: list[Unreadable]) -> list[StoredRun]:
    found = []
    for run in dict.fromkeys(names):
        try:
            found.append(store.load_run(run))
        except UnreadableRun as error:
            spoiled.append(error.found)
    return found


def _delete(store: Store, spoiled: list[Unreadable]) -> None:
    for each in spoiled:
        if isinstance(each.name, str):
            store.delete_run(each.name)
        else:
            store.delete_baseline(*each.name)


def _told(chosen: Pruning) -> list[str]:
    lines = [f"baseline '{each.name}' of {each.topology} on {each.engine}" for each in chosen.baselines]
    lines += [
        f"kept: {each.run.id}, as baseline '{baseline.name}' of {baseline.topology} came from it (--with-baselines)"
        for each, baseline in chosen.protected
    ]
    return lines + [f"kept: {each.run.id}, as it is being measured" for each in chosen.written]
