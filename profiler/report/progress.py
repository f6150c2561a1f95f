"""Progress on stderr: a live panel on a terminal, plain lines without one."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from profiler.experiment.events import (
    BlockStarted,
    Event,
    LoadingStarted,
    Phase,
    RoundDecided,
    RoundMeasured,
    SearchEnded,
    TrialStarted,
    VerificationStarted,
    WindowSeen,
)
from profiler.experiment.rounds import Round
from profiler.report.rounds_table import RoundsTable
from profiler.report.time_left import TimeLeft
from profiler.report.words import change, lasting

COUNTED_EVERY_S = 5.0
"""Seconds between two lines of a log that differ in their figures only: downloads count fast."""


class Progress(Protocol):
    """Somebody who watches a profile: a context manager that takes events and notes."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def __call__(self, event: Event) -> None:
        """Take notice of an event."""

    def note(self, text: str) -> None:
        """Tell what is going on outside of rounds: services that start, downloads."""

    def say(self, text: str) -> None:
        """Tell something that is still to be read when the work has gone on."""


def progress(console: Console, title: str, time_left: TimeLeft | None, *, quiet: bool) -> Progress:
    """Choose the watcher that fits the console."""
    if quiet:
        return Silent()
    if console.is_terminal:
        return LivePanel(console, title, time_left)
    return PlainLines(console, time_left)


class Silent:
    """A listener that shows nothing, as nobody watches."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def __call__(self, event: Event) -> None:
        """Take no notice."""

    def note(self, text: str) -> None:
        """Take no notice."""

    def say(self, text: str) -> None:
        """Take no notice."""


class PlainLines(Silent):
    """One line per thing that happened, with the time so far and the time left, for logs."""

    def __init__(
        self, console: Console, time_left: TimeLeft | None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.console = console
        self.time_left = time_left
        self._clock = clock
        self._noted = ("", -math.inf)

    def __call__(self, event: Event) -> None:
        """Write a line for rounds and confirmations; single windows would flood a log."""
        if self.time_left is not None:
            self.time_left(event)
        match event:
            case TrialStarted(number, trial):
                self._line(f"round {number}: {trial.action}, tasks {trial.configuration}")
            case LoadingStarted():
                self._line(loading_in_words(event))
            case RoundDecided(outcome) if outcome.decision is not None:
                self._line(f"round {outcome.number}: {outcome_in_words(outcome)}")
            case SearchEnded():
                self._line(unconfirmed_in_words(event))
            case BlockStarted():
                self._line(block_in_words(event))
            case VerificationStarted():
                self._line(verification_in_words(event))

    def note(self, text: str) -> None:
        """Write the note as a line; of one that only counts on, a line now and then is enough."""
        told = re.sub(r"\d+", "", text)
        if told != self._noted[0] or self._clock() - self._noted[1] >= COUNTED_EVERY_S:
            self._noted = (told, self._clock())
            self._line(text)

    def say(self, text: str) -> None:
        """Write it as a line, as all lines stay."""
        self._line(text)

    def _line(self, text: str) -> None:
        when = "" if self.time_left is None else f"[{self.time_left}] "
        self.console.print(when + text, highlight=False, markup=False, soft_wrap=True)


def outcome_in_words(outcome: Round) -> str:
    """Say in one line what came of a round."""
    decision = outcome.decision
    said = "" if decision is None else f", {'accepted' if decision.accepted else 'revoked'}: {decision.why}"
    return f"{outcome.throughput_per_s:,.0f} rows/s{said}"


def unconfirmed_in_words(event: SearchEnded) -> str:
    """Say what the search found, for those who do not want to wait for its confirmation."""
    answer, initial = event.answer, event.initial
    tasks = ", ".join(f"{name} {count}" for name, count in answer.configuration.items)
    found = f"answer, not confirmed yet: {tasks}: {answer.throughput_per_s:,.0f} rows/s"
    if answer.configuration.offered_per_s is not None:
        found += " at the most, to keep the latency"
    if answer.configuration.tasks == initial.configuration.tasks:
        return found
    return f"{found}, {change(answer.throughput_per_s / initial.throughput_per_s - 1)}"


def loading_in_words(event: LoadingStarted) -> str:
    """Say what the engine is loaded with before anything counts."""
    return f"loading {event.name}: tasks {event.configuration}"


def block_in_words(event: BlockStarted) -> str:
    """Say which block comes next, and of whom."""
    return f"{event.name or 'confirmation'}, block {event.index + 1} of {event.planned}: tasks {event.configuration}"


def verification_in_words(event: VerificationStarted) -> str:
    """Say what the last run does."""
    return f"verifying {event.configuration} at {event.rate_per_s:,.0f} rows/s with batches of {lasting(event.batch_s)}"


class LivePanel:
    """A panel that shows the rounds so far, what is measured now, and the time left."""

    def __init__(self, console: Console, title: str, time_left: TimeLeft | None) -> None:
        self.title = title
        self.time_left = time_left
        self.rounds: list[Round] = []
        self.now = "starting"
        self.window = ""
        self.found = ""
        self.live = Live(console=console, get_renderable=self.screen, refresh_per_second=4, transient=True)

    def __enter__(self) -> Self:
        self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.live.stop()

    def note(self, text: str) -> None:
        """Show what is going on."""
        self.now, self.window = text, ""

    def say(self, text: str) -> None:
        """Print it above the panel."""
        self.live.console.print(text, highlight=False, markup=False)

    def __call__(self, event: Event) -> None:
        """Update what is shown."""
        if self.time_left is not None:
            self.time_left(event)
        match event:
            case TrialStarted(number, trial):
                self.note(f"round {number}: {trial.action}, tasks {trial.configuration}")
            case LoadingStarted():
                self.note(loading_in_words(event))
            case WindowSeen():
                self.window = _window_in_words(event)
            case RoundMeasured(outcome):
                found = "" if outcome.comparison is None else f", {change(outcome.comparison.effect)}"
                self.note(f"round {outcome.number}: {outcome.throughput_per_s:,.0f} rows/s{found}")
            case RoundDecided(outcome):
                self.rounds.append(outcome)
            case SearchEnded():
                self.found = unconfirmed_in_words(event)
                self.note("the search is over")
            case BlockStarted():
                self.note(block_in_words(event))
            case VerificationStarted():
                self.note(verification_in_words(event))

    def screen(self) -> RenderableType:
        """Return what the panel shows now."""
        parts: list[RenderableType] = [RoundsTable(self.rounds)] if self.rounds else []
        parts += [Text(self.found, "bold green")] if self.found else []
        parts += [Text(self.now, "bold"), Text(self.window or " ", "cyan")]
        return Panel(
            Group(*parts),
            title=self.title,
            subtitle=None if self.time_left is None else str(self.time_left),
            title_align="left",
            subtitle_align="right",
        )


def _window_in_words(event: WindowSeen) -> str:
    seen = event.observation
    count = f"{event.index}" if event.phase is Phase.WARM_UP else f"{event.index} of {event.planned}"
    return (
        f"{event.phase}, window {count}: {seen.throughput_per_s:,.0f} rows/s of {seen.offered_per_s:,.0f} offered, "
        f"p95 {seen.processing_ms.p95:,.0f} ms"
    )
