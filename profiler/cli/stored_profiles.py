"""Find the profiles that a recalibration works with: the one that is asked about, and those it may start from."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from profiler.cli.stores import OpenStore, opened_history
from profiler.errors import ProfileError, UsageError
from profiler.recalibrate import StoredProfile, stored_profile
from profiler.settings import EngineName, Settings
from profiler.store.records import Run, RunState, run_document
from profiler.store.store import NoSuchRun, Store

MOST = 20
"""Stored profiles of a topology that are looked at, the newest ones."""


def profile_in_file(name: str | None) -> StoredProfile | None:
    """Read a profile out of a file that `profile run --json` wrote; None where the name is no file's."""
    if name is None or not name.endswith(".json"):
        return None
    try:
        document = json.loads(Path(name).expanduser().read_text(encoding="utf-8"))
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
    if given is not None and given.engine == EngineName.SIMULATED and settings.mongo is None:
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
    found = store.find_runs(topology=profile.topology, engine=profile.engine, state=RunState.FINISHED, limit=MOST)
    others = [_readable(store, each.run.id) for each in found if each.run.id != profile.run]
    return [profile, *(other for other in others if other is not None)]


def interrupted(store: Store, wanted: Run) -> str | None:
    """Return the newest recalibration that asked the same and did not come to its end."""
    question = _question(wanted)
    for found in store.find_runs(topology=wanted.topology, engine=wanted.engine):
        if found.state is not RunState.FINISHED and found.rounds and _question(found.run) == question:
            return found.run.id
    return None


def _question(run: Run) -> dict[str, Any]:
    """Return what two runs must have in common for the rounds of one to serve the other."""
    document = run_document(run)
    return {"parameters": document["parameters"], "environment": document["environment"]}


def _newest(store: Store, settings: Settings, topology: str | None = None) -> StoredProfile | None:
    engine = None if settings.origin("engine") == "default" else str(settings.engine)
    for found in store.find_runs(topology=topology, engine=engine):
        if found.answer is not None:
            return _read(store, found.run.id)
    return None


def _read(store: Store, run: str) -> StoredProfile:
    document = store.result(run)
    if document is None:
        raise ProfileError(f"The result of run '{run}' is not in the history.", hint="Import it, or run a new profile.")
    return stored_profile(document)


def _readable(store: Store, run: str) -> StoredProfile | None:
    """Read a profile that is not the one asked about: one that can't be read is no loss."""
    try:
        return _read(store, run)
    except ProfileError:
        return None
