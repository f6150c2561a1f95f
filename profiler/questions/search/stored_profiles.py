"""Find stored profiles: the one that is asked about, those it may start from, and one that broke off."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from profiler.engines.catalogue import kind_of
from profiler.errors import ProfileError, UsageError
from profiler.history.records import Run, RunState, StoredRun, run_document
from profiler.history.session.keeping import is_measured_now
from profiler.history.session.opening import OpenStore, opened_history
from profiler.history.store import NoSuchRun, Store
from profiler.questions.search.stored_profile import StoredProfile, stored_profile
from profiler.services.user_path import user_path
from profiler.settings.declarations import Settings
from profiler.settings.option import Ability

MOST = 20
"""Stored profiles of a topology that are looked at, the newest ones."""
RECENT = timedelta(days=1)
"""Time since the start of a run within which it is gone on with by itself: rounds of a machine as it was last week are
worth little."""
RECALIBRATES = "recalibrates"
"""The parameter of a recalibration that names the profile it started from."""


def profile_in_file(name: str | None) -> StoredProfile | None:
    """Read a profile out of a file that `profile run --json` wrote; None where the name is no file's."""
    if name is None or not (name.endswith(".json") or user_path(name).is_file()):
        return None
    try:
        document = json.loads(user_path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"'{name}' can't be read: {error.strerror}.", hint="Name a file of --json.") from None
    except ValueError:
        document = None
    if not isinstance(document, dict) or "best" not in document:
        raise UsageError(f"'{name}' is no profile.", hint="Name a file that 'profile run --json FILE' wrote.")
    return stored_profile(document)


@contextmanager
def history_of(
    given: StoredProfile | None, settings: Settings, note: Callable[[str], None]
) -> Iterator[OpenStore | None]:
    """Open the history; a simulated profile in a file needs no server unless one is named."""
    if given is not None and settings.mongo is None and not kind_of(given.engine).has(Ability.HISTORY):
        yield None
        return
    with opened_history(settings, note) as open_store:
        yield open_store


def find_profile(store: Store, name: str | None, settings: Settings) -> StoredProfile:
    """Find the profile of a run, the newest of a topology, or the newest of all; with an answer in any case."""
    if name is not None:
        try:
            found = store.load_run(name)
        except NoSuchRun:
            newest = _newest(store, settings, topology=name)
            if newest is None:
                raise
            return newest
        if found.answer is None:
            raise UsageError(
                f"Run '{name}' has no answer that could be recalibrated.",
                hint=f"'profile history show {name}' shows how far it came.",
            )
        return _read(store, name)
    newest = _newest(store, settings)
    if newest is None:
        raise UsageError("The history holds no profile yet.", hint="Make one: profile run TOPOLOGY.")
    return newest


def warm_starts(store: Store, profile: StoredProfile) -> list[StoredProfile]:
    """Return the profile and the other ones of its topology and engine, the newest first after it."""
    found = with_answers(store, topology=profile.topology, engine=profile.engine)
    others = [readable(store, each.run.id) for each in found if each.run.id != profile.run]
    return [profile, *(other for other in others if other is not None)]


def with_answers(store: Store, *, topology: str | None, engine: str | None) -> list[StoredRun]:
    """Find the profiles that came to an answer, the newest first; one whose time was up has an answer too.

    A recalibration that was cut short is gone on with; taken for a profile of today's job, it would hide what changed.
    """
    finished = store.find_runs(topology=topology, engine=engine, state=RunState.FINISHED, limit=MOST)
    cut_short = store.find_runs(topology=topology, engine=engine, state=RunState.CUT_SHORT)
    found = [*finished, *(each for each in cut_short if RECALIBRATES not in each.run.parameters)]
    return sorted(found, key=lambda each: (each.run.started, each.run.id), reverse=True)[:MOST]


def interrupted(store: Store, wanted: Run) -> str | None:
    """Return the newest recalibration that asked the same and lately did not come to its end; nobody measures it."""
    question = _question(wanted)
    for found in store.find_runs(topology=wanted.topology, engine=wanted.engine, since=datetime.now(UTC) - RECENT):
        is_open = found.state is not RunState.FINISHED and not is_measured_now(found)
        if is_open and found.rounds and _question(found.run) == question:
            return found.run.id
    return None


def _question(run: Run) -> dict[str, Any]:
    """Return what two runs must have in common for the rounds of one to serve the other."""
    document = run_document(run)
    return {key: document[key] for key in ("parameters", "environment", "code")}


def _newest(store: Store, settings: Settings, topology: str | None = None) -> StoredProfile | None:
    engine = None if settings.origin("engine") == "default" else str(settings.engine)
    found = with_answers(store, topology=topology, engine=engine)
    return _read(store, found[0].run.id) if found else None


def _read(store: Store, run: str) -> StoredProfile:
    document = store.result(run)
    if document is None:
        raise ProfileError(f"The result of run '{run}' is not in the history.", hint="Import it, or run a new profile.")
    return stored_profile(document)


def readable(store: Store, run: str) -> StoredProfile | None:
    """Read a profile that nobody named: one that can't be read is no loss."""
    try:
        return _read(store, run)
    except ProfileError:
        return None
