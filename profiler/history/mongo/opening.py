"""Open the MongoDB that the settings name, the user's own one unless they name another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from profiler.history.mongo.store import MongoStore
from profiler.history.store import Store
from profiler.services.mongo import Mongo, open_mongo
from profiler.services.run_folder import cache_directory
from profiler.settings.declarations import Settings


def opened_mongo(settings: Settings, note: Callable[[str], None]) -> Mongo:
    """Return the database, which is let go of when its block ends; `note` hears what takes time."""
    return open_mongo(settings.mongo, cache_directory(), report=note)


@contextmanager
def opened_store(settings: Settings) -> Iterator[Store]:
    """Yield the history, for a command that measures nothing."""
    with opened_mongo(settings, lambda _: None) as mongo, closing(MongoStore(mongo.uri)) as store:
        yield store


def revived_store(mongo: Mongo) -> MongoStore:
    """Open the store of a database, bringing the database back first where it died."""
    mongo.revive()
    return MongoStore(mongo.uri)
