"""Whether a command needs the history: the one rule for all questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from profiler.engines.catalogue import kind_of
from profiler.history.session.opening import HistorySession, opened_history
from profiler.settings.declarations import Settings
from profiler.settings.option import Ability


@contextmanager
def needed_history(
    settings: Settings, note: Callable[[str], None], *named: object, engine: str | None = None
) -> Iterator[HistorySession | None]:
    """Open the history where something in it is `named`, or what is measured is worth keeping; else yield None.

    What is simulated can be had again at any time, and needs no server: it is kept where the user names one. `engine`
    is that of a stored profile, where it is not the one of the settings.
    """
    asked = any((settings.mongo, settings.resume, *named))
    if not asked and not kind_of(engine or settings.engine).has(Ability.HISTORY):
        yield None
        return
    with opened_history(settings, note) as history:
        yield history
