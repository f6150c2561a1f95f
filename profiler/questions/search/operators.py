"""What is known of the operators themselves: their class, and the state they kept at the end."""

from __future__ import annotations

from typing import Any

from profiler.experiment.observation import OperatorWindow
from profiler.experiment.rounds import Action
from profiler.questions.search.loop import SearchResult
from profiler.questions.search.readings.operator_class import OperatorClass, TimeParts, operator_class, time_parts

_IN_WORDS = {
    OperatorClass.CPU: "CPU-bound",
    OperatorClass.SOJOURN: "sojourn-bound",
    OperatorClass.IO: "I/O-bound",
    OperatorClass.MIXED: "mixed",
}


def operator_parts(profile: SearchResult) -> dict[str, TimeParts]:
    """Return what the time of a row goes into, by operator, as far as the first round with full detail tells."""
    start = next((measured for measured in profile.rounds if measured.trial.action is Action.START), None)
    if start is None:
        return {}
    operators = {operator.name for operator in profile.topology.operators}
    seen = {name: time_parts(each) for name, each in start.measurement.operators.items() if name in operators}
    return {name: parts for name, parts in seen.items() if parts is not None}


def classes_in_words(profile: SearchResult) -> str:
    """List the operators by their class; one that is not the whole of its class says what its time goes into."""
    by_class: dict[OperatorClass, list[str]] = {}
    for name, parts in operator_parts(profile).items():
        by_class.setdefault(operator_class(parts), []).append(f"{name} ({_parts_in_words(parts)})")
    return "; ".join(f"{_IN_WORDS[kind]}: {', '.join(names)}" for kind, names in by_class.items())


def _parts_in_words(parts: TimeParts) -> str:
    said = (("works", parts.work), ("waits", parts.waiting), ("hands over", parts.hand_over))
    return ", ".join(f"{word} {part:.0%}" for word, part in said if part >= 0.005)


def class_document(profile: SearchResult, name: str) -> dict[str, Any]:
    """Tell an element's class and what its time goes into; nulls where that was not seen."""
    parts = operator_parts(profile).get(name)
    return {
        "class": None if parts is None else operator_class(parts),
        "time": None if parts is None else {"work": parts.work, "waiting": parts.waiting, "hand_over": parts.hand_over},
    }


def state_rows(profile: SearchResult) -> dict[str, int]:
    """Return the rows of state at the end of the answer's round, by operator that keeps some."""
    last = _windows(profile)[-1] if _windows(profile) else {}
    return {name: int(seen.state_rows) for name, seen in last.items() if seen.state_rows is not None}


def state_in_words(profile: SearchResult) -> str:
    """Say how large the state was, and what that means for a larger one."""
    rows = state_rows(profile)
    if not rows:
        return ""
    kept = ", ".join(f"{name} {count:,}" for name, count in rows.items())
    return f"{kept} rows at the end; {_start_in_words(profile)}"


def _start_in_words(profile: SearchResult) -> str:
    wanted = profile.platform.prefill_keys
    if not wanted:
        return "it was empty at the start of the round: larger state may be slower, --prefill N tells"
    first = _windows(profile)[0]
    missed = [name for name, seen in first.items() if seen.state_rows is not None and seen.state_rows < wanted]
    if missed:
        return f"{', '.join(missed)} did not reach the {wanted:,} keys that were to be loaded first: give it more data"
    return f"{wanted:,} keys were loaded first"


def _windows(profile: SearchResult) -> list[dict[str, OperatorWindow]]:
    return [dict(window.operators) for window in profile.answer.measurement.windows]
