"""Go on with an interrupted run: which rounds it has, and whether they may be gone on with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from profiler.errors import ProfileError, UsageError
from profiler.experiment.rounds import Round
from profiler.history.files.exchange import import_file
from profiler.history.records import Run, RunKind, RunState, StoredRun, run_document
from profiler.history.store import Store

_SAME_PLACE = ("cores", "nodes", "slots")
"""Facts of the environment that must be as they were: rounds of another place can't be compared."""


def resumed(store: Store, wanted: Run, unsaved: Path) -> tuple[Run, tuple[Round, ...]]:
    """Return the stored run of that id and its rounds; `wanted` is the run as the user now asks for it.

    What the run had to leave in its `unsaved` file is brought into the store first. Raises UsageError where there is
    no such run, it has ended, or it was asked for differently: its rounds would be an answer to another question.
    """
    stored = brought_in(store, wanted, unsaved)
    if stored.state is RunState.FINISHED:
        raise has_ended(wanted)
    require_same(_question(stored.run), _question(wanted), wanted)
    if stored.run.code and stored.run.code != wanted.code:
        raise UsageError(
            f"The job, its data or its platform is not what it was when run '{wanted.id}' was started.",
            hint="Rounds of both can't be compared: leave --resume out for a new run.",
        )
    rounds = store.rounds(wanted.id)
    require_all([measured.number for measured in rounds], "Round", wanted)
    return stored.run, rounds


def brought_in(store: Store, wanted: Run, unsaved: Path) -> StoredRun:
    """Find the run of that id and kind, after what it had to leave in its `unsaved` file is in the store."""
    stored = store.load_run(wanted.id)
    if stored.run.kind is not wanted.kind:
        command = "run" if stored.run.kind is RunKind.PROFILE else str(stored.run.kind)
        raise UsageError(
            f"Run '{wanted.id}' is of another kind: {stored.run.kind}, not {wanted.kind}.",
            hint=f"'profile {command}' goes on with it.",
        )
    if not unsaved.exists():
        return stored
    import_file(store, unsaved)
    unsaved.unlink()
    return store.load_run(wanted.id)


def has_ended(run: Run) -> UsageError:
    """Return the error for a run that has nothing left to do."""
    return UsageError(
        f"Run '{run.id}' has ended, there is nothing to resume.",
        hint=f"'profile history show {run.id}' shows it; leave --resume out for a new run.",
    )


def require_same(before: Mapping[str, Any], now: Mapping[str, Any], run: Run) -> None:
    """Refuse to go on with a run that was asked for differently, and name the difference."""
    for key in {**before, **now}:
        if before.get(key) != now.get(key):
            raise UsageError(
                f"Run '{run.id}' was started with {key} {before.get(key)}, not {now.get(key)}.",
                hint=f"Resume it with {_asked(key, before.get(key), run)}, or leave --resume out for a new run.",
            )


def _asked(key: str, value: object, run: Run) -> str:
    """Tell how to ask for it: where nobody names the slots of this machine, its free memory decides."""
    return f"--master local[{value}]" if key == "slots" and run.engine == "spark" else f"{key} {value}"


def require_all(numbers: Sequence[int], noun: str, run: Run) -> None:
    """Refuse to go on where one of the rounds or blocks, counted from 1, is missing."""
    missing = sorted(set(range(1, len(numbers) + 1)) - set(numbers))
    if missing:
        raise ProfileError(
            f"{noun} {missing[0]} of run '{run.id}' is not in the history.",
            hint="Import the file that the run saved when the database was gone, or start a new run.",
        )


def _question(run: Run) -> dict[str, Any]:
    document = run_document(run)
    environment: Mapping[str, Any] = document["environment"]
    return {
        "topology": document["topology"],
        "engine": document["engine"],
        "policy": document["policy"],
        **document["parameters"],
        **{key: environment.get(key) for key in _SAME_PLACE},
    }
