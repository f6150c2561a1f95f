"""Progress of a comparison: one stage after the other, each with a panel and a guess of its own."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from profiler.experiment.events import BlockMeasured, Event, RoundDecided
from profiler.report.console import error_console
from profiler.report.progress import Progress, Silent, progress
from profiler.report.time_left import TimeLeft


class CompareProgress:
    """Somebody who watches several things in turn; what each of them came to stays on the screen."""

    def __init__(self, title: str, *, quiet: bool) -> None:
        self._title = title
        self._quiet = quiet
        self._current: Progress = Silent()
        self.measured = False
        """Whether a round was decided or a block measured, so that there is something to go on with."""

    def __enter__(self) -> Self:
        self._show(progress(error_console(), self._title, None, quiet=self._quiet))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._show(Silent())

    def begin(self, title: str, time_left: TimeLeft | None) -> None:
        """Go on to the next stage; lines without a panel are told its title."""
        self._show(progress(error_console(), title, time_left, quiet=self._quiet))
        self.note(title)

    def say(self, text: str) -> None:
        """End the stage with a line that stays."""
        self._show(Silent())
        if not self._quiet:
            error_console().print(text)

    def __call__(self, event: Event) -> None:
        """Take notice of an event."""
        self.measured = self.measured or isinstance(event, RoundDecided | BlockMeasured)
        self._current(event)

    def note(self, text: str) -> None:
        """Tell what is going on."""
        self._current.note(text)

    def _show(self, watcher: Progress) -> None:
        self._current.__exit__(None, None, None)
        self._current = watcher
        self._current.__enter__()
