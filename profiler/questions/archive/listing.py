"""List the runs that a history holds, and the baselines of its gates."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import UTC, datetime

from profiler.history.baselines import SavedBaseline
from profiler.history.files.unsaved import unsaved_files
from profiler.history.mongo.opening import opened_store
from profiler.history.records import RunKind, RunState
from profiler.history.terminal import baseline_entry, print_baselines, print_runs, run_entry
from profiler.history.unreadable import Unreadable
from profiler.report.console import error_console, result_console
from profiler.report.writers import as_printed_json
from profiler.services.run_folder import cache_directory
from profiler.settings.choices import EngineName
from profiler.settings.declarations import Settings
from profiler.settings.moments import moment
from profiler.settings.quantities import choice


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions that a listed run meets; None is none."""

    topology: str | None
    engine: EngineName | None
    kind: RunKind | None
    state: RunState | None
    since: datetime | None
    limit: int

    @classmethod
    def read(
        cls,
        topology: str | None,
        engine: str | None,
        kind: str | None,
        state: str | None,
        since: str | None,
        limit: int,
    ) -> Conditions:
        """Read the flags; UsageError where one of them is no condition."""
        return cls(
            topology,
            None if engine is None else choice(EngineName).read(engine, "--engine"),
            None if kind is None else choice(RunKind).read(kind, "--kind"),
            None if state is None else choice(RunState).read(state, "--state"),
            None if since is None else moment(datetime.now(UTC)).read(since, "--since"),
            limit,
        )

    def meets(self, saved: SavedBaseline) -> bool:
        """Tell whether a baseline is listed: it counts as a gate that has ended."""
        return (
            self.topology in (None, saved.topology)
            and self.engine in (None, saved.engine)
            and self.kind in (None, RunKind.GATE)
            and self.state in (None, RunState.FINISHED)
            and (self.since is None or saved.saved >= self.since)
        )


def list_runs(wanted: Conditions, settings: Settings, *, as_json: bool) -> int:
    """List the runs that meet the conditions, the newest first, and name those that can't be read."""
    spoiled: list[Unreadable] = []
    with opened_store(settings) as store:
        runs = store.find_runs(
            topology=wanted.topology,
            engine=wanted.engine,
            kind=wanted.kind,
            state=wanted.state,
            since=wanted.since,
            limit=wanted.limit,
            spoiled=spoiled.append,
        )
        saved = [each for each in store.baselines(spoiled.append) if wanted.meets(each)]
    if as_json:
        document = {
            "schema": "profile-history-list/1",
            "runs": [run_entry(found) for found in runs],
            "baselines": [baseline_entry(each) for each in saved],
        }
        sys.stdout.write(as_printed_json(document))
    else:
        print_runs(result_console(), runs)
        print_baselines(result_console(), saved)
    for each in spoiled:
        error_console().print(f"{each} {each.way_out}", style="yellow")
    for path in unsaved_files(cache_directory()):
        error_console().print(f"A run waits to be imported: profile history import {path}", style="yellow")
    return 0
