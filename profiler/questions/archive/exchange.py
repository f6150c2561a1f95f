"""Take a run out of a history into a file, and bring one in."""

from __future__ import annotations

import os
from pathlib import Path

from profiler.errors import UsageError
from profiler.experiment.rounds import Round
from profiler.history.files.exchange import export_run, put
from profiler.history.files.lines import History, read_history
from profiler.history.files.unsaved import unsaved_folder
from profiler.history.mongo.opening import opened_store
from profiler.history.records import MeasuredBlock, Result, SeenWindow
from profiler.report.console import error_console, result_console
from profiler.report.words import counted
from profiler.services.run_folder import cache_directory
from profiler.services.whole_file import check_writable
from profiler.settings.declarations import Settings


def export_to(run: str, file: Path, settings: Settings, *, force: bool) -> int:
    """Write all of a run to a file; nothing that is there takes it, unless that is wanted by `force`."""
    if not force and os.path.lexists(file):
        raise UsageError(f"'{file}' is there already.", hint="Name another file, or add --force.")
    try:
        check_writable(file)
    except (OSError, ValueError) as error:  # the second for what can't be a name at all
        why = error.strerror if isinstance(error, OSError) else "it is no name that a file can have"
        raise UsageError(f"'{file}' can't be written: {why}.", hint="Name another file.") from None
    with opened_store(settings) as store:
        history = export_run(store, run, file)
    result_console().print(f"Wrote run {run} to {file}: {_counted(history)}.")
    return 0


def import_from(file: Path, settings: Settings) -> int:
    """Add a run from a file to the history; a file of an interrupted run is removed when it is there."""
    # Read before a server is started: a wrong file is refused at once.
    history = read_history(file)
    with opened_store(settings) as store:
        put(store, history)
    result_console().print(f"Imported run {history.run.id} ({history.run.topology}): {_counted(history)}.")
    if history.cut_off:
        _note(f"The last line of {file} was not finished when its run was killed; it is left out.")
    if file.absolute().parent == unsaved_folder(cache_directory()):
        file.unlink()
        _note(f"{file} is in the history now, and removed.")
    return 0


def _counted(history: History) -> str:
    blocks, windows = history.count(MeasuredBlock), history.count(SeenWindow)
    measured = counted(blocks, "block") if blocks else counted(history.count(Round), "round")
    answer = "with its answer" if history.count(Result) else "without an answer"
    baselines = "".join(f", baseline '{each.name}'" for each in history.baselines)
    return f"{measured}, {counted(windows, 'window')}, {answer}{baselines}"


def _note(text: str) -> None:
    error_console().print(text, style="yellow")
