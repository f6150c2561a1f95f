"""What is known of the operators themselves: their class, and the state they kept at the end."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from profiler.experiment.rounds import Action, Round
from profiler.questions.search.answer import Profile
from profiler.questions.search.readings.operator_class import OperatorClass, TimeParts, operator_class, time_parts

_IN_WORDS = {
    OperatorClass.CPU: "CPU-bound",
    OperatorClass.SOJOURN: "sojourn-bound",
    OperatorClass.IO: "I/O-bound",
    OperatorClass.MIXED: "mixed",
}


def start_of(rounds: Iterable[Round]) -> Round | None:
    """Return the round that looked at every operator in full."""
    return next((measured for measured in rounds if measured.trial.action is Action.START), None)


def parts_of(start: Round | None, operators: Collection[str]) -> dict[str, TimeParts]:
    """Return what the time of a row goes into, by operator, as far as the first round with full detail tells."""
    if start is None:
        return {}
    seen = {name: time_parts(each) for name, each in start.measurement.operators.items() if name in operators}
    return {name: parts for name, parts in seen.items() if parts is not None}


def classes_in_words(profile: Profile) -> str:
    """List the operators by their class; one that is not the whole of its class says what its time goes into."""
    by_class: dict[OperatorClass, list[str]] = {}
    for name, parts in parts_of(start_of(profile.records), profile.operators).items():
        by_class.setdefault(operator_class(parts), []).append(f"{name} ({_parts_in_words(parts)})")
    return "; ".join(f"{_IN_WORDS[kind]}: {', '.join(names)}" for kind, names in by_class.items())


def _parts_in_words(parts: TimeParts) -> str:
    said = (("works", parts.work), ("waits", parts.waiting), ("hands over", parts.hand_over))
    return ", ".join(f"{word} {part:.0%}" for word, part in said if part >= 0.005)


def state_rows(measured: Round) -> dict[str, int]:
    """Return the rows of state at the end of a round, by operator that keeps some."""
    windows = measured.measurement.windows
    last = windows[-1].operators if windows else {}
    return {name: int(seen.state_rows) for name, seen in last.items() if seen.state_rows is not None}


def state_in_words(profile: Profile) -> str:
    """Say how large the state was, and what that means for a larger one."""
    rows = profile.best.state_rows
    if not rows:
        return ""
    kept = ", ".join(f"{name} {count:,}" for name, count in rows.items())
    return f"{kept} rows at the end; {_start_in_words(profile)}"


def _start_in_words(profile: Profile) -> str:
    wanted = 0 if profile.fingerprint is None else profile.fingerprint.prefill_keys
    if not wanted:
        return "it was empty at the start of the round: larger state may be slower, --prefill N tells"
    answer = profile.answer
    first = {} if answer is None or answer.record is None else answer.record.measurement.windows[0].operators
    missed = [name for name, seen in first.items() if seen.state_rows is not None and seen.state_rows < wanted]
    if missed:
        return f"{', '.join(missed)} did not reach the {wanted:,} keys that were to be loaded first: give it more data"
    return f"{wanted:,} keys were loaded first"
