"""Find the run that broke off, for a command that goes on with it by itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from profiler.errors import ProfileError
from profiler.history.files.unsaved import unsaved_path
from profiler.history.records import Run, RunState, StoredRun
from profiler.history.session.keeping import is_measured_now
from profiler.history.session.opening import HistorySession
from profiler.history.session.question import is_same
from profiler.history.store import Store
from profiler.services.run_folder import cache_directory

RECENT = timedelta(days=1)
"""Time since the start of a run within which it is gone on with by itself: rounds of a machine as it was last week are
worth little. Of blocks that are gone on with, the last one must be more recent still."""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A run that broke off and can be gone on with."""

    run: Run
    """The run as it is asked for now, under the id of the stored one."""
    done: int
    """Rounds or blocks that it has."""


def interrupted(
    wanted: Run,
    history: HistorySession | None,
    resume: Callable[[Store, Run, Path], tuple[Run, Sequence[Any]]],
    *,
    states: Collection[RunState] = (RunState.UNFINISHED,),
    now: datetime | None = None,
) -> Interrupted | None:
    """Find the newest run of the same question that broke off lately with something measured, and that nobody measures.

    One that was started over since, and came to its end, is done with: who asks again wants another one. `states` are
    those in which a run has not ended.
    """
    if history is None:
        return None
    store, since = history.store(), (now or datetime.now(UTC)) - RECENT
    found = store.find_runs(topology=wanted.topology, engine=wanted.engine, kind=wanted.kind, since=since)
    same = [each for each in found if is_same(each.run, wanted)]
    for each in same:
        if each.state not in states:
            return None
        past = None if is_measured_now(each) else _resumable(each, wanted, store, resume)
        if past is not None:
            return past
    return None


def _resumable(
    found: StoredRun, wanted: Run, store: Store, resume: Callable[[Store, Run, Path], tuple[Run, Sequence[Any]]]
) -> Interrupted | None:
    run = replace(wanted, id=found.run.id)
    try:
        _, past = resume(store, run, unsaved_path(cache_directory(), run.id))
    except ProfileError:
        return None
    return Interrupted(run, len(past)) if past else None
