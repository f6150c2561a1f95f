"""Open the history that the settings name, once for a command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from profiler.history.store import Store
from profiler.settings.declarations import Settings

OpenStore = Callable[[], Store]
"""Opens the history, again after its database died too."""


class HistorySession:
    """The history as one command uses it: one store for all that it asks, and what opens others for threads."""

    def __init__(self, open_store: OpenStore, revived: Callable[[], str] = str) -> None:
        """Begin without a store; `revived` brings its database back where that died, and tells where it is."""
        self.open_store = open_store
        self._revived = revived
        self._store: Store | None = None
        self._place = ""

    def store(self) -> Store:
        """Return the command's own store; what is measured takes minutes, in which its database may die and move."""
        place = self._revived()
        if self._store is None or place != self._place:
            self.close()
            self._store, self._place = self.open_store(), place
        return self._store

    def close(self) -> None:
        """Let go of the store; calling it twice is fine."""
        if self._store is not None:
            self._store.close()
            self._store = None


@contextmanager
def opened_history(settings: Settings, note: Callable[[str], None]) -> Iterator[HistorySession]:
    """Yield the same history for as long as something is measured; one that can't be written is told at once."""
    # The database's client takes 0.2 s, and what is simulated needs none.
    from profiler.history.mongo.opening import opened_mongo, revived_store

    with opened_mongo(settings, note) as mongo:

        def revived() -> str:
            mongo.revive()
            return mongo.uri

        with closing(HistorySession(lambda: revived_store(mongo), revived)) as session:
            session.store()
            yield session
