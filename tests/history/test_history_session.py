"""The history as one command uses it: opened once for all that the command asks, and once for the keeper's thread."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from profiler.history.memory import MemoryStore
from profiler.history.session.opening import HistorySession
from profiler.questions import needed_history


class Opened:
    """A history in memory, and how often it was opened and closed."""

    def __init__(self):
        self.kept = MemoryStore()
        self.opened = self.closed = 0
        self.kept.close = self._close

    def open(self):
        self.opened += 1
        return self.kept

    def _close(self):
        self.closed += 1


@pytest.fixture
def opened(monkeypatch):
    made = Opened()

    @contextmanager
    def history(settings, note):
        session = HistorySession(made.open)
        yield session
        session.close()

    monkeypatch.setattr(needed_history, "opened_history", history)
    return made


SIMULATED = ("--engine", "simulated", "--nodes", "1", "--cores", "4", "--mongo", "mongodb://nowhere", "--quiet")
COMMANDS = {
    "a run": ("run", "linear?depth=2", "--quick", "--windows", "2", *SIMULATED),
    "a gate": ("gate", "linear?depth=2", "--blocks", "4", "--save-baseline", "main", *SIMULATED),
    "a comparison": ("compare", "linear?depth=2", "linear?depth=3", "--quick", "--blocks", "4", *SIMULATED),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_opens_its_history_once_and_once_for_every_keeper(command, profile, opened):
    """Each time, indexes and collections of a real database are looked after; a comparison keeps three runs."""
    answer = profile(*COMMANDS[command])
    assert answer.exit_code in (0, 4), answer.stderr
    keepers = 3 if command == "a comparison" else 1
    assert len(opened.kept.find_runs(kind=None)) == keepers
    assert opened.opened <= keepers + 1
    assert opened.closed >= opened.opened


def test_a_history_whose_database_moved_is_opened_where_it_is_now():
    """It died while something was measured, and was started again at another port."""
    made, places = Opened(), iter(["here", "here", "there"])
    session = HistorySession(made.open, lambda: next(places))
    assert session.store() is session.store()
    assert (made.opened, made.closed) == (1, 0)
    session.store()
    assert (made.opened, made.closed) == (2, 1)
