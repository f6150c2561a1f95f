"""Find stored profiles: the one that is asked about, and those it may start from."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from profiler.errors import ProfileError, UsageError
from profiler.history.records import RunState, StoredRun
from profiler.history.session.opening import HistorySession
from profiler.history.store import NoSuchRun, Store
from profiler.questions.going_on import RECALIBRATES
from profiler.questions.needed_history import needed_history
from profiler.questions.search.stored_profile import StoredProfile, stored_profile
from profiler.report.documents import parsed_json
from profiler.services.user_path import user_path
from profiler.settings.declarations import Settings

MOST = 20
"""Stored profiles of a topology that are looked at, the newest ones."""


def profile_in_file(name: str | None) -> StoredProfile | None:
    """Read a profile out of a file that `profile run --json` wrote; None where the name is no file's."""
    if name is None:
        return None
    if not (name.endswith(".json") or user_path(name).is_file()):
        _require_text(name)
        return None
    try:
        document = parsed_json(user_path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"'{name}' can't be read: {error.strerror}.", hint="Name a file of --json.") from None
    except ValueError:
        document = None
    if not isinstance(document, dict) or "best" not in document:
        raise UsageError(f"'{name}' is no profile.", hint="Name a file that 'profile run --json FILE' wrote.")
    try:
        return stored_profile(document)
    except UsageError:
        raise
    except ProfileError as error:
        raise UsageError(f"'{name}' can't be used. {error.message}", hint=error.hint) from None


def history_of(
    given: StoredProfile | None, settings: Settings, note: Callable[[str], None]
) -> AbstractContextManager[HistorySession | None]:
    """Open the history that a profile is in, or of what is measured from a profile that was given as a file."""
    engine = None if given is None else given.engine
    return needed_history(settings, note, given is None, engine=engine)


def asked_profile(
    history: HistorySession | None, name: str | None, settings: Settings, note: Callable[[str], None]
) -> StoredProfile:
    """Find the profile of a run, the newest of a topology, or the newest of all; with an answer in any case.

    `note` hears of newer ones that can't be read.
    """
    if history is None:
        raise ProfileError("There is no history to find a profile in.")
    store = history.store()
    if name is not None:
        try:
            found = store.load_run(name)
        except NoSuchRun:
            newest = _newest(store, settings, note, topology=name)
            if newest is None:
                raise
            return newest
        if found.answer is None:
            raise UsageError(
                f"Run '{name}' has no answer that could be recalibrated.",
                hint=f"'profile history show {name}' shows how far it came.",
            )
        return _read(store, name)
    newest = _newest(store, settings, note)
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


def _newest(
    store: Store, settings: Settings, note: Callable[[str], None], topology: str | None = None
) -> StoredProfile | None:
    engine = None if settings.origin("engine") == "default" else str(settings.engine)
    first: ProfileError | None = None
    for found in with_answers(store, topology=topology, engine=engine):
        try:
            return _read(store, found.run.id)
        except UsageError:
            raise
        except ProfileError as error:
            first = first or error
            note(f"Run '{found.run.id}' is passed over: {error.message}")
    if first is not None:
        raise first
    return None


def _read(store: Store, run: str) -> StoredProfile:
    document = store.result(run)
    if document is None:
        raise ProfileError(f"The result of run '{run}' is not in the history.", hint="Import it, or run a new profile.")
    return stored_profile(document)


def _require_text(name: str) -> None:
    """Refuse what no database can be asked for, before one is started."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"{name!a} is no name of a run or a topology.", hint="'profile history list' shows the runs."
        ) from None


def readable(store: Store, run: str) -> StoredProfile | None:
    """Read a profile that nobody named: one that can't be read is no loss."""
    try:
        return _read(store, run)
    except ProfileError:
        return None
