"""Follow a running job for `profile recalibrate --watch`: read its windows as they come, tell what the watch says.

The job is a run in the history, or a file that grows by JSON lines, which any job can write:

    {"at": "2026-11-16T09:16:08+00:00", "queue_rows": 120, "latency_ms": 85}
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from profiler.errors import ProfileError, UsageError
from profiler.experiment.events import Phase
from profiler.history.records import RunState, SeenWindow
from profiler.history.session.keeping import is_measured_now
from profiler.history.session.opening import HistorySession
from profiler.history.store import Store
from profiler.questions.fingerprints import as_asked
from profiler.questions.recalibrate.request import RecalibrateRequest
from profiler.questions.recalibrate.watch import QUEUE_S, Alarm, Watch, WatchedSample, WatchLimits
from profiler.questions.recalibrate.watch_words import WatchAnswer, alarm_in_words, recommendation, watch_answer
from profiler.questions.search.stored_profile import StoredProfile
from profiler.questions.search.stored_profiles import asked_profile, history_of, profile_in_file
from profiler.report.console import error_console, is_read, result_console
from profiler.report.outputs import Outputs
from profiler.report.words import counted
from profiler.report.writers import as_json
from profiler.services.user_path import user_path
from profiler.settings.choices import ExportKind
from profiler.settings.declarations import Settings

STRESSED = (Phase.WARM_UP, Phase.STRESS, Phase.BLOCK)
"""Windows that offer more rows than the job can take."""


def run_watch(request: RecalibrateRequest, settings: Settings) -> int:
    """Follow the job until its history ends, the budget is used up or somebody interrupts; return the exit code."""
    outputs: Outputs[WatchAnswer] = Outputs.opened(settings, {ExportKind.JSON: as_json})
    given = profile_in_file(request.profile)
    file = None if request.job is None else user_path(request.job)
    is_file = file is not None and file.is_file()
    if file is not None and not is_file and (file.suffix or len(file.parts) > 1):
        raise UsageError(f"There is no file '{request.job}' to follow.", hint="Start the job that writes it first.")
    if given is not None and is_file:
        return _followed(request, settings, given, None, outputs)
    with history_of(given if is_file else None, settings, lambda _: None) as history:
        stored = given or asked_profile(history, request.profile, settings, error_console().print)
        return _followed(request, settings, stored, history, outputs)


def _followed(
    request: RecalibrateRequest,
    settings: Settings,
    stored: StoredProfile,
    history: HistorySession | None,
    outputs: Outputs[WatchAnswer],
) -> int:
    limits = _limits(request, settings, stored)
    quantile = _asked(settings, stored).latency_quantile
    watch, alarms, seen = Watch(limits), list[Alarm](), 0
    if not settings.quiet:
        error_console().print(
            f"watching for a queue above {limits.queue_rows:,.0f} rows or a latency above {limits.latency_ms:g} ms "
            f"for {limits.period_s:g} s"
        )
    try:
        for sample in _samples(request, settings, stored, history, quantile):
            seen += 1
            for alarm in watch.see(sample):
                alarms.append(alarm)
                if not outputs.json_on_stdout:
                    _tell(alarm, stored)
                    if not is_read(sys.stdout):
                        return 0  # `… | head -1` has seen all that it wanted
    except KeyboardInterrupt:
        # The usual end of a watch: what it saw is not lost.
        outputs.write(watch_answer(stored, limits, seen, alarms))
        raise
    outputs.write(watch_answer(stored, limits, seen, alarms))
    if not outputs.json_on_stdout and not alarms:
        result_console().print(f"{counted(seen, 'window')}, nothing too high for too long")
    return 0


def _tell(alarm: Alarm, stored: StoredProfile) -> None:
    console = result_console()
    console.print(alarm_in_words(alarm), style="bold yellow" if alarm.raised else "green")
    if alarm.raised:
        console.print(f"  {recommendation(stored.run)}")


def _asked(settings: Settings, stored: StoredProfile) -> Settings:
    return settings if stored.fingerprint is None else as_asked(settings, stored.fingerprint.asked)


def _limits(request: RecalibrateRequest, settings: Settings, stored: StoredProfile) -> WatchLimits:
    """Return the user's limits; where there are none, those that follow from the profile."""
    queue_rows = request.queue_rows or QUEUE_S * stored.rounds.answer.throughput_per_s
    return WatchLimits(queue_rows, _asked(settings, stored).latency_ms, request.period_s)


def _samples(
    request: RecalibrateRequest,
    settings: Settings,
    stored: StoredProfile,
    history: HistorySession | None,
    quantile: float,
) -> Iterator[WatchedSample]:
    ends_s = None if settings.budget_s is None else time.monotonic() + settings.budget_s
    file = None if request.job is None else user_path(request.job)
    if file is not None and file.is_file():
        yield from followed_file(file, settings.window_s, ends_s)
        return
    if history is None:
        raise ProfileError("There is no history to follow a job in.")
    store = history.store()
    run = request.job or _newest_run(store, stored)
    yield from followed_run(store, run, quantile, settings.window_s, ends_s)


def _newest_run(store: Store, stored: StoredProfile) -> str:
    unfinished = store.find_runs(topology=stored.topology, engine=stored.engine, kind=None, state=RunState.UNFINISHED)
    # Of others, whose writer was killed, nothing new will come.
    running = [found for found in unfinished if is_measured_now(found)]
    if not running:
        raise UsageError(
            f"No run of '{stored.topology}' on {stored.engine} is under way.",
            hint="Name what to follow: --job RUN|FILE.",
        )
    return running[0].run.id


def followed_run(
    store: Store, run: str, quantile: float, every_s: float, ends_s: float | None
) -> Iterator[WatchedSample]:
    """Yield the windows of a run as they are stored, until the run ends or the time is up.

    Those in which it is stressed on purpose are left out: their queue is no job's that falls behind.
    """
    last: datetime | None = None
    while True:
        found = store.load_run(run)
        interrupted = found.state is RunState.UNFINISHED and not is_measured_now(found)
        for window in store.windows(run):
            if last is None or window.at > last:
                last = window.at
                if window.phase not in STRESSED:
                    yield _sample(window, quantile)
        if interrupted:
            error_console().print(f"Run {run} was interrupted: nothing new will come of it.")
        if interrupted or found.state is not RunState.UNFINISHED or not _waited(every_s, ends_s):
            return


def followed_file(path: Path, every_s: float, ends_s: float | None) -> Iterator[WatchedSample]:
    """Yield the lines of a file as they are written, until the time is up; without a limit, until interrupted."""
    # What is no text is told by the line that it stands in.
    with path.open(encoding="utf-8", errors="replace") as file:
        number, unfinished = 0, ""
        while True:
            for line in file:
                unfinished += line
                if not unfinished.endswith("\n"):
                    continue  # its writer is not done with it
                number += 1
                text, unfinished = unfinished.strip(), ""
                if text:
                    yield _parsed(text, f"Line {number} of {path}")
            if not _waited(every_s, ends_s):
                return


def _waited(every_s: float, ends_s: float | None) -> bool:
    """Wait for more to come; tell whether there is time for it."""
    if ends_s is not None and time.monotonic() + every_s > ends_s:
        return False
    time.sleep(every_s)
    return True


def _sample(window: SeenWindow, quantile: float) -> WatchedSample:
    latency = window.observation.processing_ms.quantile(quantile)
    return WatchedSample(window.at, window.observation.queue_rows, latency if latency < float("inf") else None)


def _is_possible(sample: WatchedSample) -> bool:
    return all(math.isfinite(value) and value >= 0 for value in (sample.queue_rows, sample.latency_ms or 0.0))


def _parsed(line: str, where: str) -> WatchedSample:
    try:
        entry: dict[str, Any] = json.loads(line)
        at = datetime.fromisoformat(entry["at"])
        latency = entry.get("latency_ms")
        sample = WatchedSample(at, float(entry["queue_rows"]), None if latency is None else float(latency))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        sample = None
    if sample is None or sample.at.tzinfo is None or not _is_possible(sample):
        raise UsageError(
            f"{where} is no window of a job.",
            hint='Write {"at": "2026-11-16T09:16:08+00:00", "queue_rows": 120, "latency_ms": 85}.',
        )
    return sample
