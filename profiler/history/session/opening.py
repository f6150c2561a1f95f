"""Open the store that the settings name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from profiler.settings.declarations import Settings

if TYPE_CHECKING:
    from profiler.history.store import Store

OpenStore = Callable[[], "Store"]
"""Opens the history, again after its database died too."""


@contextmanager
def opened_store(settings: Settings, note: Callable[[str], None] = lambda _: None) -> Iterator[Store]:
    """Yield the history in MongoDB, the user's own one unless another is named; `note` hears what takes time."""
    from profiler.history.mongo.store import MongoStore
    from profiler.services.mongo import open_mongo
    from profiler.services.run_folder import cache_directory

    with (
        open_mongo(settings.mongo, cache_directory(), report=note) as mongo,
        closing(MongoStore(mongo.uri)) as store,
    ):
        yield store


@contextmanager
def opened_history(settings: Settings, note: Callable[[str], None]) -> Iterator[OpenStore]:
    """Yield what opens the same history as often as needed while something is measured."""
    from profiler.history.mongo.store import MongoStore, open_revived
    from profiler.services.mongo import open_mongo
    from profiler.services.run_folder import cache_directory

    with open_mongo(settings.mongo, cache_directory(), report=note) as mongo:
        # One that can't be written, or holds another version's history, is told now as well.
        MongoStore(mongo.uri).close()
        yield lambda: open_revived(mongo)
