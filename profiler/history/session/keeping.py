"""Keep a run in the history while it goes on, and go on with a stored one where that is asked for."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Generic, TypeVar

from profiler.experiment.events import BlockMeasured, Event, Listener, RoundDecided
from profiler.history.files.unsaved import unsaved_path
from profiler.history.keeper import Keeper
from profiler.history.records import Run, RunKind, RunState, StoredRun, is_run_name
from profiler.history.session.opening import HistorySession
from profiler.history.store import NoSuchRun, Store
from profiler.report.console import error_console
from profiler.services.run_folder import cache_directory
from profiler.services.run_lock import is_being_written, only_writer, place_of

T = TypeVar("T")

Resume = Callable[[Store, Run, Path], tuple[Run, Sequence[T]]]
"""Finds the stored run and what was measured of it; gets the run as it is asked for now, and its file of leftovers."""
_NOUNS = {RunKind.PROFILE: "Rounds", RunKind.GATE: "Blocks", RunKind.COMPARE: "Blocks"}


_GIVEN_UP = timedelta(days=1)
"""Time since the start of a run of another place after which it is taken to have been interrupted."""


@dataclass(slots=True)
class Keeping(Generic[T]):
    """The place where a run is kept: its record, the rounds or blocks it goes on from, and who hears of new ones."""

    run: Run
    past: Sequence[T]
    report: Listener
    keep_result: Callable[[Mapping[str, Any]], None]
    complete: bool = True
    """Whether the database took all of it; False where a file has the rest."""


def new_run_id(started: datetime) -> str:
    """Name a run by the moment it started; profiles that start at once are told apart by chance."""
    return f"{started:%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"


def is_measured_now(found: StoredRun) -> bool:
    """Tell whether somebody measures a stored run; of what another place began, only time tells that nobody does."""
    cache, run = cache_directory(), found.run
    if is_being_written(cache, run.id):
        return True
    is_elsewhere = run.place not in ("", place_of(cache)) and found.state is RunState.UNFINISHED
    return is_elsewhere and datetime.now(UTC) - run.started < _GIVEN_UP


@contextmanager
def kept(
    run: Run, history: HistorySession | None, watcher: Listener, *, resume: Resume[T] | None, way_on: str | None
) -> Iterator[Keeping[T]]:
    """Keep a run in the history, where there is one; `resume` is given where a stored one is gone on with.

    `way_on` is told where the run breaks off after something is done: a sentence of how to go on after it, in which
    the run and what is done are left open.
    """
    if history is None:
        yield Keeping(run, (), watcher, lambda _: None)
        return
    if not is_run_name(run.id):
        raise NoSuchRun(run.id, ())
    cache = cache_directory()
    run = replace(run, place=place_of(cache))
    with only_writer(cache, run.id):
        unsaved = unsaved_path(cache, run.id)
        past: Sequence[T] = ()
        if resume is not None:
            run, past = resume(history.store(), run, unsaved)
        keeper = Keeper(history.open_store, run, unsaved)
        done = len(past)

        def report(event: Event) -> None:
            nonlocal done
            watcher(event)
            keeper(event)
            done = max(done, _number(event))

        keeping = Keeping(run, past, report, keeper.keep_result)
        with keeper:
            try:
                yield keeping
            except BaseException:
                if done and way_on is not None:
                    error_console().print(way_on.format(what=_NOUNS[run.kind], done=done, run=run.id))
                raise
            finally:
                if left := str(keeper.close()):
                    keeping.complete = False
                    error_console().print(left)


def _number(event: Event) -> int:
    """Return the number of the round or block that an event completes; 0 where it completes none."""
    if isinstance(event, RoundDecided):
        return event.round.number
    return event.number if isinstance(event, BlockMeasured) else 0
