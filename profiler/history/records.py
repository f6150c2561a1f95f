"""What a store keeps of a profile or a gate: the run, every window, round and block, the result; and their documents.

A document is the same in MongoDB and in an exported file, so that both are read by one function. Nothing that looks
like a URI keeps its credentials on the way into a document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from profiler.errors import ProfileError
from profiler.experiment.events import Phase
from profiler.experiment.observation import BlockWindows, Latency, Observation
from profiler.experiment.rounds import Round
from profiler.history.migrations import BLOCK, COMPARE_RESULT, GATE_RESULT, RESULT, RUN, WINDOW
from profiler.job.configuration import Configuration
from profiler.report.documents import plain
from profiler.statistics.result import Verdict

T = TypeVar("T")

_LONGEST_NAME = 200
"""Bytes of a run's name: files are called by it, whose names may have 255."""


class RunKind(StrEnum):
    """What a run was for."""

    PROFILE = "profile"
    GATE = "gate"
    COMPARE = "compare"


class RunState(StrEnum):
    """The state of a run: how far it came."""

    FINISHED = "finished"
    CUT_SHORT = "cut-short"
    """The run has an answer, but its time was up."""
    UNFINISHED = "unfinished"
    """The run goes on, or was interrupted."""


@dataclass(frozen=True, slots=True)
class Run:
    """What is known of a profile or a gate before anything is measured."""

    id: str
    topology: str
    engine: str
    policy: str
    """The policy that searches; empty in a gate, where nobody does."""
    parameters: Mapping[str, Any]
    environment: Mapping[str, Any]
    started: datetime
    kind: RunKind = RunKind.PROFILE
    code: str = ""
    """A word that tells the job, its data and its platform apart from others; empty where that was not kept."""
    loop_s: float | None = None
    """CPU seconds of the speed index's work that the index of all rounds is relative to; None where the index is
    absolute."""
    place: str = ""
    """The name of the cache whose locks tell whether it is still measured; empty where that was not kept."""

    def __post_init__(self) -> None:
        _require_time_zone(self.started)


@dataclass(frozen=True, slots=True)
class SeenWindow:
    """One window as it was seen, the ones that a round's measurement leaves out (warm-up, probes) included."""

    at: datetime
    """The moment at which the window ended, to the microsecond; no two windows of a run share one, so it tells them
    apart."""
    round: int | None
    """The number of the round; None in the confirmation."""
    block: int | None
    """Number of the confirmation's block; None in a round."""
    phase: Phase
    configuration: Configuration
    observation: Observation

    def __post_init__(self) -> None:
        _require_time_zone(self.at)


@dataclass(frozen=True, slots=True)
class MeasuredBlock:
    """A block of a gate, with all that a later session needs to go on after it."""

    at: datetime
    """The moment at which the block ended."""
    number: int
    """The block's number from 1, in the order of the gate; blocks that only prepare are not counted."""
    expected_per_s: float
    """Throughput by which the offered rates are set: the same for all blocks of a gate."""
    loop_s: float | None
    """CPU seconds of the speed index's work that the index of its windows is relative to; None where it is absolute."""
    block: BlockWindows

    def __post_init__(self) -> None:
        _require_time_zone(self.at)


@dataclass(frozen=True, slots=True)
class Result:
    """The answer: the document that `--json` writes (schema profile/1 or profile-gate/1)."""

    document: Mapping[str, Any]


Record = SeenWindow | Round | MeasuredBlock | Result
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
class BlocksAnswer:
    """What a list shows of the result of a gate or a comparison, which have blocks and a verdict."""

    verdict: str
    """The verdict: pass, slower, saved or inconclusive; of a comparison faster, tie or inconclusive."""
    why: str
    complete: bool = True
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as a list shows it."""

    run: Run
    rounds: int
    answer: Answer | None
    """The answer of a profile; None where the run has not ended, or was interrupted."""
    blocks: int = 0
    """The number of a gate's blocks."""
    gate: BlocksAnswer | None = None
    """The answer of a gate or a comparison."""

    @property
    def state(self) -> RunState:
        """The run's state."""
        ended = self.answer if self.run.kind is RunKind.PROFILE else self.gate
        if ended is None:
            return RunState.UNFINISHED
        return RunState.FINISHED if ended.complete else RunState.CUT_SHORT


def stored_run(run: Run, *, rounds: int, blocks: int, result: Mapping[str, Any] | None) -> StoredRun:
    """Put together what a list shows of a run; `result` may lack its rounds."""
    if result is not None and has_blocks(result):
        schema = COMPARE_RESULT if _schema_name(result) == COMPARE_RESULT.name else GATE_RESULT
        gate = read_document(_blocks_answer_adapter(), schema.current(result), "result")
        return StoredRun(run, rounds, None, blocks, gate)
    return StoredRun(run, rounds, None if result is None else answer_from(result), blocks)


def has_blocks(result: Mapping[str, Any]) -> bool:
    """Tell whether a result is a gate's, or a comparison's, which is kept alike: both have blocks and a verdict."""
    return _schema_name(result) in (GATE_RESULT.name, COMPARE_RESULT.name)


def _schema_name(document: Any) -> str:
    named = document.get("schema") if isinstance(document, Mapping) else None
    return str(named).partition("/")[0]


def run_document(run: Run) -> dict[str, Any]:
    """Turn a run into a document."""
    document: dict[str, Any] = without_secrets(
        plain({"schema": RUN.mark, **asdict(run), "started": _moment(run.started)})
    )
    return document


def run_from(document: Mapping[str, Any]) -> Run:
    """Turn a document back into the run it came from."""
    run = read_document(_run_adapter(), RUN.current(document), "run")
    if not is_run_name(run.id):
        raise ProfileError("A stored run can't be read: its id is no name of a run.", hint="Was its file changed?")
    return run


def is_run_name(run: str) -> bool:
    """Tell whether files can be called by a run, and people shown it; ours are dates with a few letters."""
    return run.isprintable() and 0 < len(run.encode()) <= _LONGEST_NAME and run.strip(".") != "" and "/" not in run


def block_document(block: MeasuredBlock) -> dict[str, Any]:
    """Turn a block into a document."""
    document: dict[str, Any] = plain({"schema": BLOCK.mark, **asdict(block), "at": _moment(block.at)})
    return document


def block_from(document: Mapping[str, Any]) -> MeasuredBlock:
    """Turn a document back into the block it came from."""
    return read_document(_block_adapter(), BLOCK.current(document), "block")


def window_document(window: SeenWindow) -> dict[str, Any]:
    """Turn a window into a document."""
    document: dict[str, Any] = plain({**asdict(window), "at": _moment(window.at)})
    return document


def window_from(document: Mapping[str, Any]) -> SeenWindow:
    """Turn a document back into the window it came from."""
    return read_document(_window_adapter(), WINDOW.current(document), "window")


def answer_from(document: Mapping[str, Any]) -> Answer:
    """Read what a list shows out of a profile's result document."""
    return read_document(_answer_adapter(), RESULT.current(document), "result")


def result_parts(document: Mapping[str, Any]) -> tuple[dict[str, Any], list[Mapping[str, Any]]]:
    """Split a result into a document without the rounds' records, and the records.

    The rounds are kept by themselves already: kept twice, a long search would outgrow one MongoDB document (16 MB).
    """
    if "rounds" not in document:  # of a gate
        return without_secrets(plain(document)), []
    rounds = [{key: value for key, value in entry.items() if key != "record"} for entry in document["rounds"]]
    records = [entry["record"] for entry in document["rounds"] if "record" in entry]
    return without_secrets(plain({**document, "rounds": rounds})), records


def result_joined(document: Mapping[str, Any], records: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """Put the records, by number, back to where `result_parts` took them from."""
    entries = document.get("rounds")
    if not isinstance(entries, list):
        return dict(document)
    return {**document, "rounds": [_with_record(entry, records) for entry in entries]}


def _with_record(entry: Any, records: Mapping[int, Mapping[str, Any]]) -> Any:
    number = entry.get("number") if isinstance(entry, Mapping) else None
    return {**entry, "record": records[number]} if isinstance(number, int) and number in records else entry


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
        place = ".".join(_keys(document, first["loc"], is_missing=first["type"] == "missing"))
        said = first["msg"].removeprefix("Value error, ") + (f" at '{place}'" if place else "")
        raise ProfileError(
            f"A stored {noun} can't be read: {said}.", hint="Was it written by another version?"
        ) from None


def _keys(document: Any, place: Sequence[int | str], *, is_missing: bool) -> Iterator[str]:
    """Yield the keys of a place in a document; pydantic names the types between them too."""
    for part in place:
        found = dict(enumerate(document)) if isinstance(document, list) else document
        if isinstance(found, Mapping) and part in found:
            document = found[part]
            yield str(part)
    if is_missing:
        yield str(place[-1])


@cache
def _run_adapter() -> TypeAdapter[Run]:
    return TypeAdapter(Run)


@cache
def _answer_adapter() -> TypeAdapter[Answer]:
    return TypeAdapter(Answer)


@cache
def _blocks_answer_adapter() -> TypeAdapter[BlocksAnswer]:
    return TypeAdapter(BlocksAnswer)


@cache
def _block_adapter() -> TypeAdapter[MeasuredBlock]:
    return TypeAdapter(MeasuredBlock)


@cache
def _window_adapter() -> TypeAdapter[SeenWindow]:
    return TypeAdapter(SeenWindow)
