"""Open the store that the settings name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from profiler.settings import Settings

if TYPE_CHECKING:
    from profiler.store.store import Store


@contextmanager
def opened_store(settings: Settings, note: Callable[[str], None] = lambda _: None) -> Iterator[Store]:
    """Yield the history in MongoDB, the user's own one unless another is named; `note` hears what takes time."""
    from profiler.services.mongo import open_mongo
    from profiler.services.run_folder import cache_directory
    from profiler.store.mongo import MongoStore

    with (
        open_mongo(settings.mongo, cache_directory(), report=note) as mongo,
        closing(MongoStore(mongo.uri)) as store,
    ):
        yield store
