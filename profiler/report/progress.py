"""Progress on stderr: a live panel on a terminal, plain lines without one."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from profiler.events import (
    BlockStarted,
    Event,
    Phase,
    RoundDecided,
    RoundMeasured,
    SearchEnded,
    TrialStarted,
    VerificationStarted,
    WindowSeen,
)
from profiler.measure import Design
from profiler.report.terminal import rounds_table
from profiler.report.words import change, minutes
from profiler.rounds import Round
from profiler.verify import BATCHES

TYPICAL_ROUNDS = 8
"""Rounds that a profile takes at the median; the time left is guessed from it."""


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


def progress(console: Console, title: str, time_left: TimeLeft, *, quiet: bool) -> Progress:
    """Choose the watcher that fits the console."""
    if quiet:
        return Silent()
    if console.is_terminal:
        return LivePanel(console, title, time_left)
    return PlainLines(console)


class Silent:
    """Nobody watches."""

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


class PlainLines(Silent):
    """One line per thing that happened, for logs."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def __call__(self, event: Event) -> None:
        """Write a line for rounds and confirmations; single windows would flood a log."""
        match event:
            case TrialStarted(number, trial):
                self._line(f"round {number}: {trial.action}, tasks {trial.configuration}")
            case RoundDecided(outcome) if outcome.decision is not None:
                self._line(f"round {outcome.number}: {outcome_in_words(outcome)}")
            case SearchEnded(answer):
                self._line(f"search ended: {answer.configuration} with {answer.throughput_per_s:,.0f} rows/s")
            case BlockStarted(index, planned, configuration):
                self._line(f"confirmation block {index + 1} of {planned}: tasks {configuration}")
            case VerificationStarted():
                self._line(verification_in_words(event))

    def note(self, text: str) -> None:
        """Write the note as a line."""
        self._line(text)

    def _line(self, text: str) -> None:
        self.console.print(text, highlight=False, soft_wrap=True)


def outcome_in_words(outcome: Round) -> str:
    """Say in one line what came of a round."""
    decision = outcome.decision
    said = "" if decision is None else f", {'accepted' if decision.accepted else 'revoked'}: {decision.why}"
    return f"{outcome.throughput_per_s:,.0f} rows/s{said}"


def verification_in_words(event: VerificationStarted) -> str:
    """Say what the last run does."""
    return f"verifying {event.configuration} at {event.rate_per_s:,.0f} rows/s with batches of {event.batch_s:g} s"


class TimeLeft:
    """Guess how long a profile still takes, from the windows that it has and usually needs."""

    def __init__(
        self, design: Design, window_s: float, verification_s: float = 0.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.design = design
        self.window_s = window_s
        self.verification_s = verification_s
        self.verifying_until: float | None = None
        self.clock = clock
        self.started = clock()
        self.rounds_done = 0
        self.blocks_left = 0
        self.confirming = False

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start."""
        return self.clock() - self.started

    @property
    def left_s(self) -> float:
        """Guess the seconds left: as the rounds so far went, or a design's worth of windows before the first."""
        if self.verifying_until is not None:
            return self.verifying_until - self.clock()
        block_s = (self.design.block + self.design.block_warm_up) * self.window_s
        if self.confirming:
            return self.blocks_left * block_s + self.verification_s
        windows = self.design.windows + self.design.probe + 4
        per_round = self.elapsed_s / self.rounds_done if self.rounds_done else windows * self.window_s
        rounds_left = max(1, TYPICAL_ROUNDS - self.rounds_done)
        return rounds_left * per_round + 3 * self.design.blocks * block_s + self.verification_s

    def verifying(self, seconds: float) -> None:
        """Note that the last run has begun."""
        self.verifying_until = self.clock() + seconds


class LivePanel:
    """A panel that shows the rounds so far, what is measured now, and the time left."""

    def __init__(self, console: Console, title: str, time_left: TimeLeft) -> None:
        self.title = title
        self.time_left = time_left
        self.rounds: list[Round] = []
        self.now = "starting"
        self.window = ""
        self.live = Live(console=console, get_renderable=self._render, refresh_per_second=4, transient=True)

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

    def __call__(self, event: Event) -> None:
        """Update what is shown."""
        match event:
            case TrialStarted(number, trial):
                self.note(f"round {number}: {trial.action}, tasks {trial.configuration}")
            case WindowSeen():
                self.window = _window_in_words(event)
            case RoundMeasured(outcome):
                found = "" if outcome.comparison is None else f", {change(outcome.comparison.effect)}"
                self.note(f"round {outcome.number}: {outcome.throughput_per_s:,.0f} rows/s{found}")
            case RoundDecided(outcome):
                self.rounds.append(outcome)
                self.time_left.rounds_done += 1
            case SearchEnded(answer):
                self.note(f"not confirmed yet: {answer.configuration}, {answer.throughput_per_s:,.0f} rows/s")
            case BlockStarted(index, planned, configuration):
                self.time_left.confirming = True
                self.time_left.blocks_left = planned - index
                self.note(f"confirmation, block {index + 1} of {planned}: tasks {configuration}")
            case VerificationStarted(batch_s=batch_s):
                self.time_left.verifying(BATCHES * batch_s)
                self.note(verification_in_words(event))

    def _render(self) -> RenderableType:
        clock = f"{minutes(self.time_left.elapsed_s)} so far, about {minutes(self.time_left.left_s)} left"
        parts: list[RenderableType] = [rounds_table(self.rounds)] if self.rounds else []
        parts += [Text(self.now, "bold"), Text(self.window or " ", "cyan")]
        return Panel(Group(*parts), title=self.title, subtitle=clock, title_align="left", subtitle_align="right")


def _window_in_words(event: WindowSeen) -> str:
    seen = event.observation
    count = f"{event.index}" if event.phase is Phase.WARM_UP else f"{event.index} of {event.planned}"
    return (
        f"{event.phase}, window {count}: {seen.throughput_per_s:,.0f} rows/s of {seen.offered_per_s:,.0f} offered, "
        f"p95 {seen.processing_ms.p95:,.0f} ms"
    )
