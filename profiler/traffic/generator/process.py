"""The parent's handle on a generating process.

The child is held by its standard input: when this process ends, however it ends, the kernel closes the pipe and the
child stops by itself. Its reports are collected by a thread, so that its standard output never fills up.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

from profiler.errors import ProfileError, UsageError
from profiler.services.processes.child import how_it_ended
from profiler.services.processes.marked import marked
from profiler.traffic.generator.achieved import Achieved, achieved
from profiler.traffic.generator.wire import (
    REPORT_S,
    Failure,
    GeneratorReport,
    SetRate,
    Setup,
    Stop,
    Target,
    read_report,
    to_line,
)

START_S = 60.0
"""Longest start: reading a large workload file and finding the broker, on a busy machine."""
OVERDUE_S = 15.0
"""A child that has not reported for this long is stuck, not just starved of CPU."""
STOP_S = 10.0
"""Longest orderly end; the child itself waits half of it for the broker."""
_KEPT_REPORTS = round(3600 / REPORT_S)
"""The number of reports that are kept: those of the last hour."""
_PACKAGE_ROOT = Path(__file__).resolve().parents[3]


class GeneratorProcess:
    """A generator that runs in a child process, at rate 0 until it is given one."""

    def __init__(self, address: str, targets: Sequence[Target], *, log: Path) -> None:
        """Prepare a generator; `log` receives what the Kafka client has to say."""
        if not targets or any(target.share <= 0 for target in targets):
            raise UsageError("A generator needs targets with shares above 0.", hint="Name a topic and its payloads.")
        absolute = tuple(replace(target, payloads=str(Path(target.payloads).absolute())) for target in targets)
        self._setup = Setup(address, absolute)
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._changed = threading.Condition()
        self._reports: deque[GeneratorReport] = deque(maxlen=_KEPT_REPORTS)
        self._failure: ProfileError | None = None
        self._stopping = False
        self._ended = False

    @property
    def pid(self) -> int | None:
        """The child's process id, None before the start."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the child and wait until it has read its workload and found its topics."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "profiler.traffic.generator"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=_PACKAGE_ROOT,  # not the user's folder, whose modules would hide the standard library's
                env=marked(self._log.parent, owner=os.getpid()),
            )
        self._reader = threading.Thread(
            target=self._collect, args=[self._process], name="generator-reports", daemon=True
        )
        self._reader.start()
        try:
            self._tell(self._setup)
            self._await(lambda: True, START_S)
        except BaseException:
            self.stop()
            raise

    def set_rate(self, rate_per_s: float, *, seconds: float | None = None, abandon_owed: bool = False) -> None:
        """Offer this rate, summed over the targets; for a limited time, where given, and then nothing.

        What the generator still owes is sent as fast as possible, with the times it was due; `abandon_owed` gives it up
        instead, which is right between two rounds.
        """
        self._tell(SetRate(rate_per_s, seconds, abandon_owed))

    def report(self) -> GeneratorReport:
        """Give the latest report; raise where the child has ended by an error."""
        with self._changed:
            if self._failure is not None:
                raise self._failure
            return self._reports[-1]

    def next_report(self) -> GeneratorReport:
        """Wait for a report that is newer than the latest one."""
        latest = self.report()
        self._await(lambda: self._reports[-1] is not latest, OVERDUE_S)
        return self.report()

    def samples(self, start_s: float, end_s: float) -> tuple[GeneratorReport, ...]:
        """Give the reports that enclose the time from `start_s` to `end_s` (since the epoch), waiting for the last."""
        self._await(lambda: self._reports[-1].time_s >= end_s, max(0.0, end_s - time.time()) + OVERDUE_S)
        with self._changed:
            reports = list(self._reports)
        times = [report.time_s for report in reports]
        return tuple(reports[max(0, bisect_right(times, start_s) - 1) : bisect_left(times, end_s) + 1])

    def achieved(self, start_s: float, end_s: float) -> Achieved:
        """Tell what was offered and what arrived in a window, and whether it was limited by the generator."""
        return achieved(self.samples(start_s, end_s), start_s, end_s)

    def stop(self) -> GeneratorReport | None:
        """End the child in stages and give its last report, with its final counts; calling it twice is fine."""
        process, self._process = self._process, None
        if process is not None:
            self._stopping = True
            try:
                _write(process, Stop())
                process.wait(STOP_S)
            except (subprocess.TimeoutExpired, OSError):
                pass  # stuck, or gone already
            finally:
                process.kill()
                _close_pipe(process)
                process.wait()
            if self._reader is not None:
                self._reader.join()
        return self._reports[-1] if self._reports else None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def _tell(self, message: Setup | SetRate) -> None:
        if self._process is None:
            raise ProfileError("The generator does not run.", hint="Start it first.")
        try:
            _write(self._process, message)
        except OSError:  # it has ended; the reader knows why, or will in a moment
            self._await(lambda: False, OVERDUE_S)

    def _await(self, arrived: Callable[[], bool], timeout_s: float) -> None:
        """Wait until something has arrived; raise where it cannot arrive any more, or takes too long."""
        with self._changed:
            self._changed.wait_for(lambda: (bool(self._reports) and arrived()) or self._ended, timeout_s)
            if self._reports and arrived():
                return
            if self._failure is not None:
                raise self._failure
        what = "ended before that" if self._ended else f"did not report for {timeout_s:.0f} s"
        raise ProfileError(f"The generator {what}.", hint=f"Its log is {self._log}.")

    def _collect(self, process: subprocess.Popen[bytes]) -> None:
        """Take in what the child says until it ends."""
        failure: ProfileError | None = None
        with cast("IO[bytes]", process.stdout) as lines:
            for line in lines:
                message = read_report(line.decode())
                if isinstance(message, Failure):
                    kind = UsageError if message.exit_code == UsageError.exit_code else ProfileError
                    failure = kind(message.message, hint=message.hint)
                    continue
                with self._changed:
                    self._reports.append(message)
                    self._changed.notify_all()
        code = process.wait()
        if failure is None and not self._stopping:
            failure = ProfileError(f"The generator {how_it_ended(code)}.", hint=f"Its log is {self._log}.")
        with self._changed:
            self._failure = failure
            self._ended = True
            self._changed.notify_all()


def _write(process: subprocess.Popen[bytes], message: Setup | SetRate | Stop) -> None:
    pipe = cast("IO[bytes]", process.stdin)
    pipe.write(to_line(message).encode())
    pipe.flush()


def _close_pipe(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):  # what was written last may have had no reader
        cast("IO[bytes]", process.stdin).close()
