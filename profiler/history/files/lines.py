"""A history as a file of JSON lines: an export, or what the keeper saved while the database was gone.

    {"schema": "profile-history/2", "kind": "run", "records": 213, "document": {…}}
    {"kind": "window", "document": {…}}
    {"kind": "round", "document": {…}}
    {"kind": "block", "document": {…}}
    {"kind": "result", "document": {…}}
    {"kind": "baseline", "document": {…}}

`records` counts the lines that follow; the keeper can't know it beforehand and leaves it out. A document holds what
`records.py` and `documents.py` make of a value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from profiler.errors import ProfileError, UsageError
from profiler.experiment.rounds import Round
from profiler.history.baselines import Baseline, baseline_document, baseline_from
from profiler.history.documents import round_document, round_from
from profiler.history.migrations import HISTORY, NewerSchema
from profiler.history.records import (
    MeasuredBlock,
    Record,
    Result,
    Run,
    SeenWindow,
    block_document,
    block_from,
    run_document,
    run_from,
    stored_run,
    window_document,
    window_from,
    without_secrets,
)
from profiler.report.documents import parsed_json, plain

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class History:
    """A run and all that is known of it."""

    run: Run
    records: tuple[Record, ...] = ()
    cut_off: bool = False
    """Whether the last line was not finished, as its writer was killed, and is left out."""
    baselines: tuple[Baseline, ...] = ()
    """The baselines that a gate was saved as."""

    def count(self, kind: type[Record]) -> int:
        """Count the records of a kind."""
        return sum(isinstance(record, kind) for record in self.records)


def header_line(run: Run, records: int | None = None) -> str:
    """Write the first line of a file."""
    count = {} if records is None else {"records": records}
    return _line({"schema": HISTORY.mark, "kind": "run", **count, "document": run_document(run)})


def record_line(record: Record) -> str:
    """Write one record as a line."""
    if isinstance(record, SeenWindow):
        return _line({"kind": "window", "document": window_document(record)})
    if isinstance(record, Round):
        return _line({"kind": "round", "document": round_document(record)})
    if isinstance(record, MeasuredBlock):
        return _line({"kind": "block", "document": block_document(record)})
    return _line({"kind": "result", "document": without_secrets(plain(record.document))})


def baseline_line(baseline: Baseline) -> str:
    """Write a baseline as a line."""
    return _line({"kind": "baseline", "document": baseline_document(baseline)})


def read_history(path: Path) -> History:
    """Read a whole file; UsageError with the line where anything is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UsageError(
            f"'{path}' can't be read: {reason}.", hint="Name a file of 'profile history export'."
        ) from None
    lines = text.split("\n")
    unfinished = lines.pop()
    if not lines:
        raise _malformed(path, 1, "the file holds no whole line")
    header = _read(path, 1, _parsed(path, 1, lines[0]), HISTORY.current)
    if header.get("kind") != "run":
        raise _malformed(path, 1, f"its kind is {header.get('kind')!r}, not 'run'")
    run = _document(path, 1, header, run_from)
    expected = header.get("records")
    if expected is not None and (unfinished or expected != len(lines) - 1):
        raise _malformed(path, len(lines), f"the file ends here, after {len(lines) - 1} of {expected} records")
    found = [_record(path, number, line, run) for number, line in enumerate(lines[1:], start=2)]
    records = tuple(each for each in found if not isinstance(each, Baseline))
    baselines = tuple(each for each in found if isinstance(each, Baseline))
    return History(run, records, cut_off=bool(unfinished), baselines=baselines)


def _record(path: Path, number: int, line: str, run: Run) -> Record | Baseline:
    entry = _parsed(path, number, line)
    match entry.get("kind"):
        case "window":
            return _document(path, number, entry, window_from)
        case "round":
            return _document(path, number, entry, round_from)
        case "block":
            return _document(path, number, entry, block_from)
        case "result":
            return _document(path, number, entry, lambda document: _result_from(document, run))
        case "baseline":
            return _document(path, number, entry, baseline_from)
        case other:
            raise _malformed(path, number, f"its kind is {other!r}")


def _result_from(document: Mapping[str, Any], run: Run) -> Result:
    stored_run(run, rounds=0, blocks=0, result=document)
    if document.get("run") != run.id:
        raise ProfileError(f"Its result is of run {document.get('run')!r}, not {run.id!r}.")
    rounds = document.get("rounds", [])
    if not isinstance(rounds, list) or not all(map(_is_round, rounds)):
        raise ProfileError("The rounds of its result can't be read.")
    for entry in rounds:
        if "record" in entry:
            round_from(entry["record"])
    return Result(document)


def _is_round(entry: object) -> bool:
    return isinstance(entry, dict) and "number" in entry and isinstance(entry.get("record", {}), dict)


def _document(path: Path, number: int, entry: Mapping[str, Any], read: Callable[[Mapping[str, Any]], T]) -> T:
    document = entry.get("document")
    if not isinstance(document, dict):
        raise _malformed(path, number, "it has no document")
    return _read(path, number, document, read)


def _read(path: Path, number: int, document: Mapping[str, Any], read: Callable[[Mapping[str, Any]], T]) -> T:
    try:
        return read(document)
    except NewerSchema as error:
        raise UsageError(f"'{path}' can't be imported: line {number}: {error.message}", hint=error.hint) from None
    except ProfileError as error:
        raise _malformed(path, number, error.message.rstrip(".")) from None


def _parsed(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        entry = parsed_json(line)
    except ValueError:
        raise _malformed(path, number, "it is no JSON") from None
    if not isinstance(entry, dict):
        raise _malformed(path, number, "it is no JSON object")
    return entry


def _malformed(path: Path, number: int, reason: str) -> UsageError:
    return UsageError(
        f"'{path}' is no history: line {number}: {reason}.",
        hint="Nothing was imported. Name a file that 'profile history export' or an interrupted run wrote.",
    )


def _line(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False, allow_nan=False) + "\n"
