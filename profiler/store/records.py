"""What a store keeps of a profile: the run, every window seen, every round, the result; and their plain documents.

A document is the same in MongoDB and in an exported file, so that both are read by one function. Nothing that looks
like a URI keeps its credentials on the way into a document.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from profiler.configuration import Configuration
from profiler.documents import plain
from profiler.errors import ProfileError
from profiler.events import Phase
from profiler.observation import Latency, Observation
from profiler.rounds import Round
from profiler.statistics.comparison import Verdict

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Run:
    """What is known of a profile before anything is measured."""

    id: str
    topology: str
    engine: str
    policy: str
    parameters: Mapping[str, Any]
    environment: Mapping[str, Any]
    started: datetime

    def __post_init__(self) -> None:
        _require_time_zone(self.started)


@dataclass(frozen=True, slots=True)
class SeenWindow:
    """One window as it was seen, the ones that a round's measurement leaves out (warm-up, probes) included."""

    at: datetime
    """When it ended, to the microsecond; no two windows of a run share one, so it tells them apart."""
    round: int | None
    """None in the confirmation."""
    block: int | None
    """Number of the confirmation's block; None in a round."""
    phase: Phase
    configuration: Configuration
    observation: Observation

    def __post_init__(self) -> None:
        _require_time_zone(self.at)


@dataclass(frozen=True, slots=True)
class Result:
    """The answer: the document that `--json` writes (schema profile/1)."""

    document: Mapping[str, Any]


Record = SeenWindow | Round | Result
"""What is added to a run while it goes on."""


@dataclass(frozen=True, slots=True)
class Best:
    """The configuration that a result names."""

    tasks: Mapping[str, int]
    throughput_per_s: float
    offered_per_s: float | None = None
    latency_ms: Latency | None = None


@dataclass(frozen=True, slots=True)
class Confirmed:
    """What the confirmation of a result found."""

    effect: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Answer:
    """What a list shows of a result: the part of its document that every version has."""

    best: Best
    gain: float
    confirmed: Confirmed | None = None
    complete: bool = True
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as a list shows it."""

    run: Run
    rounds: int
    answer: Answer | None
    """None where the run has not ended, or was interrupted."""


def run_document(run: Run) -> dict[str, Any]:
    """Turn a run into a document."""
    document: dict[str, Any] = without_secrets(plain({**asdict(run), "started": _moment(run.started)}))
    return document


def run_from(document: Mapping[str, Any]) -> Run:
    """Turn a document back into the run it came from."""
    return read_document(_run_adapter(), document, "run")


def window_document(window: SeenWindow) -> dict[str, Any]:
    """Turn a window into a document."""
    document: dict[str, Any] = plain({**asdict(window), "at": _moment(window.at)})
    return document


def window_from(document: Mapping[str, Any]) -> SeenWindow:
    """Turn a document back into the window it came from."""
    return read_document(_window_adapter(), document, "window")


def answer_from(document: Mapping[str, Any]) -> Answer:
    """Read what a list shows out of a result document."""
    return read_document(_answer_adapter(), document, "result")


def result_parts(document: Mapping[str, Any]) -> tuple[dict[str, Any], list[Mapping[str, Any]]]:
    """Split a result into a document without the rounds' records, and the records.

    The rounds are kept by themselves already: kept twice, a long search would outgrow one MongoDB document (16 MB).
    """
    rounds = [{key: value for key, value in entry.items() if key != "record"} for entry in document.get("rounds", ())]
    records = [entry["record"] for entry in document.get("rounds", ()) if "record" in entry]
    return without_secrets(plain({**document, "rounds": rounds})), records


def result_joined(document: Mapping[str, Any], records: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """Put the records, by number, back to where `result_parts` took them from."""
    rounds = [
        {**entry, "record": records[entry["number"]]} if entry["number"] in records else dict(entry)
        for entry in document.get("rounds", ())
    ]
    return {**document, "rounds": rounds}


def without_secrets(value: Any) -> Any:
    """Take the credentials out of every URI in a document; up to the last @, as a password may be badly escaped."""
    if isinstance(value, Mapping):
        return {key: without_secrets(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_secrets(item) for item in value]
    return re.sub(r"://\S*@", "://***@", value) if isinstance(value, str) else value


def _moment(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


def _require_time_zone(moment: datetime) -> None:
    if moment.tzinfo is None:
        raise ValueError("a time without a time zone")


def read_document(adapter: TypeAdapter[T], document: Mapping[str, Any], noun: str) -> T:
    """Read a document back; ProfileError with the place where it is not what it should be."""
    try:
        return adapter.validate_python(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        where = f" at '{place}'" if place else ""
        raise ProfileError(
            f"A stored {noun} can't be read: {first['msg']}{where}.", hint="Was it written by another version?"
        ) from None


@cache
def _run_adapter() -> TypeAdapter[Run]:
    return TypeAdapter(Run)


@cache
def _answer_adapter() -> TypeAdapter[Answer]:
    return TypeAdapter(Answer)


@cache
def _window_adapter() -> TypeAdapter[SeenWindow]:
    return TypeAdapter(SeenWindow)
