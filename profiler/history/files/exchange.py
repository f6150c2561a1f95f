"""Bring a run out of a store into a file, and from a file into a store; a gate takes its baselines along.

An import may be repeated: what is there already is not doubled, and a baseline that was saved later is not replaced.
The whole file is read before anything is written, and a new run appears in the list only after all of it is there.
"""

from __future__ import annotations

from pathlib import Path

from profiler.errors import UsageError
from profiler.history.files.lines import History, baseline_line, header_line, read_history, record_line
from profiler.history.records import Record, Result, result_parts
from profiler.history.store import NoSuchRun, Store, write_records
from profiler.services.whole_file import written_whole


def history_of(store: Store, run: str) -> History:
    """Collect all that a store knows of a run; UsageError where it knows no such run."""
    stored = store.load_run(run)
    records: list[Record] = [*store.windows(run), *store.rounds(run), *store.blocks(run)]
    document = store.result(run)
    if document is not None:
        # The rounds' records have their own lines.
        records.append(Result(result_parts(document)[0]))
    saved = [each for each in store.baselines() if each.run == run]
    baselines = tuple(store.load_baseline(each.topology, each.engine, each.name) for each in saved)
    return History(stored.run, tuple(records), baselines=baselines)


def export_run(store: Store, run: str, path: Path) -> History:
    """Write a run to a file, which appears when it is whole; return what was written."""
    history = history_of(store, run)
    try:
        with written_whole(path) as file:
            file.write(header_line(history.run, len(history.records) + len(history.baselines)).encode())
            file.writelines(record_line(each).encode() for each in history.records)
            file.writelines(baseline_line(each).encode() for each in history.baselines)
    except OSError as error:
        raise UsageError(f"'{path}' can't be written: {error.strerror}.", hint="Name another file.") from None
    return history


def import_file(store: Store, path: Path) -> History:
    """Read a file and put all of it into a store; return what was read."""
    history = read_history(path)
    put(store, history)
    return history


def put(store: Store, history: History) -> None:
    """Put a history into a store; UsageError where another run has its name."""
    run = history.run
    try:
        known = store.load_run(run.id).run
    except NoSuchRun:
        known = run
    if known != run:
        raise UsageError(
            f"The history holds another run '{run.id}', of {known.topology} at {known.started:%Y-%m-%d %H:%M:%S}.",
            hint="Import the file into another database: --mongo URI.",
        )
    write_records(store, run.id, history.records)
    store.begin_run(run)
    there = {(each.topology, each.engine, each.name): each.saved for each in store.baselines()}
    for baseline in history.baselines:
        saved = there.get((baseline.topology, baseline.engine, baseline.name))
        if saved is None or saved < baseline.saved:
            store.save_baseline(baseline)
