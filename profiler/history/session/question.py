"""Whether two runs are of the same question: what is measured of one can stand beside what is measured of the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from profiler.errors import UsageError
from profiler.history.records import Run, RunKind, run_document

_SAME_PLACE = ("cores", "nodes", "slots")
"""Facts of the environment that must be as they were: rounds of another place can't be compared. Versions are part of
a profile's `code`."""


def question(run: Run) -> dict[str, Any]:
    """Return what was asked, and where, by the names that a refusal tells.

    Blocks of two sessions are compared with each other, so all that is known of the place must be as it was.
    """
    document = run_document(run)
    environment: Mapping[str, Any] = document["environment"]
    place = {key: environment.get(key) for key in _SAME_PLACE} if run.kind is RunKind.PROFILE else environment
    return {**{key: document[key] for key in ("topology", "engine", "policy")}, **document["parameters"], **place}


def is_same(one: Run, other: Run) -> bool:
    """Tell whether two runs are of the same question, and of the same job."""
    return one.code == other.code and question(one) == question(other)


def require_same(before: Run, now: Run) -> None:
    """Refuse to go on with a run that was asked for differently, and name the difference."""
    asked, wanted = question(before), question(now)
    for key in {**asked, **wanted}:
        if asked.get(key) != wanted.get(key):
            raise UsageError(
                f"Run '{now.id}' was started with {key} {asked.get(key)}, not {wanted.get(key)}.",
                hint=f"Resume it with {_asked(key, asked.get(key), now)}, or leave --resume out for a new run.",
            )
    if before.code and before.code != now.code:
        raise UsageError(
            f"The job, its data or its platform is not what it was when run '{now.id}' was started.",
            hint="Rounds of both can't be compared: leave --resume out for a new run.",
        )


def _asked(key: str, value: object, run: Run) -> str:
    """Tell how to ask for it: where nobody names the slots of this machine, its free memory decides."""
    return f"--master local[{value}]" if key == "slots" and run.engine == "spark" else f"{key} {value}"
