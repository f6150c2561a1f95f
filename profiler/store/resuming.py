"""Go on with an interrupted run: which rounds it has, and whether they may be gone on with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from profiler.errors import ProfileError, UsageError
from profiler.rounds import Round
from profiler.store.exchange import import_file
from profiler.store.records import Run, run_document
from profiler.store.store import Store

_SAME_PLACE = ("cores", "nodes", "slots")
"""What of the environment must be as it was: rounds of another place can't be compared."""


def resumed(store: Store, wanted: Run, unsaved: Path) -> tuple[Run, tuple[Round, ...]]:
    """Return the stored run of that id and its rounds; `wanted` is the run as the user now asks for it.

    What the run had to leave in its `unsaved` file is brought into the store first. Raises UsageError where there is
    no such run, it has ended, or it was asked for differently: its rounds would be an answer to another question.
    """
    stored = store.load_run(wanted.id)
    if unsaved.exists():
        import_file(store, unsaved)
        unsaved.unlink()
        stored = store.load_run(wanted.id)
    if stored.answer is not None and stored.answer.complete:
        raise UsageError(
            f"Run '{wanted.id}' has ended, there is nothing to resume.",
            hint=f"'profile history show {wanted.id}' shows it; leave --resume out for a new run.",
        )
    before, now = _question(stored.run), _question(wanted)
    for key in {**before, **now}:
        if before.get(key) != now.get(key):
            raise UsageError(
                f"Run '{wanted.id}' was started with {key} {before.get(key)}, not {now.get(key)}.",
                hint=f"Resume it with {key} {before.get(key)}, or leave --resume out for a new run.",
            )
    rounds = store.rounds(wanted.id)
    missing = sorted(set(range(1, len(rounds) + 1)) - {outcome.number for outcome in rounds})
    if missing:
        raise ProfileError(
            f"Round {missing[0]} of run '{wanted.id}' is not in the history.",
            hint="Import the file that the run saved when the database was gone, or start a new run.",
        )
    return stored.run, rounds


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
