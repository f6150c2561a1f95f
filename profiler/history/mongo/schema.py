"""Collections, indexes and schema version of a history in MongoDB, and the steps that bring an older one up to date.

The collection `meta` holds one document, `{_id: "schema", version: n}`. Two profiles may open a history at once, and
one may be killed in the middle: all of this must be safe to repeat.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pymongo.database import Database
from pymongo.errors import CollectionInvalid, OperationFailure

from profiler.errors import ProfileError
from profiler.history.store import SCHEMA_VERSION

Entry = dict[str, Any]
Migration = Callable[[Database[Entry]], None]

MIGRATIONS: tuple[Migration, ...] = ()
"""Step n, counted from 1, turns version n into version n + 1; so there is one less than SCHEMA_VERSION."""
_NEEDED_SERVER = (5, 0, 5)
"""The first version of the server that deletes from a time series."""
_NAMESPACE_EXISTS = 48


def prepare(
    database: Database[Entry],
    shown: str,
    *,
    version: int = SCHEMA_VERSION,
    migrations: Sequence[Migration] = MIGRATIONS,
) -> None:
    """Make a database ready to hold histories; `shown` is its redacted URI."""
    server = tuple(database.client.server_info()["versionArray"][:3])
    if server < _NEEDED_SERVER:
        raise ProfileError(
            f"MongoDB at {shown} is version {'.'.join(map(str, server))}, "
            f"and the history needs {'.'.join(map(str, _NEEDED_SERVER))} or newer.",
            hint="Update it, or leave --mongo out.",
        )
    _bring_up_to_date(database, shown, version, migrations)
    _make_time_series(database, shown)
    database.observations.create_index([("run.id", 1), ("at", 1)])
    database.rounds.create_index([("run", 1), ("number", 1)], unique=True)
    database.blocks.create_index([("run", 1), ("number", 1)], unique=True)
    database.baselines.create_index([("topology", 1), ("engine", 1), ("name", 1)], unique=True)
    database.runs.create_index([("started", -1)])
    database.runs.create_index([("topology", 1), ("engine", 1), ("started", -1)])


def _bring_up_to_date(database: Database[Entry], shown: str, version: int, migrations: Sequence[Migration]) -> None:
    """Mark a new history with our version, migrate an older one, refuse a newer one."""
    database.meta.update_one({"_id": "schema"}, {"$setOnInsert": {"version": version}}, upsert=True)
    found = (database.meta.find_one({"_id": "schema"}) or {}).get("version")
    if not isinstance(found, int) or not 1 <= found <= version:
        raise ProfileError(
            f"The history in MongoDB at {shown} has schema version {found}, and this profile knows up to {version}.",
            hint="Update profile, or name another database in --mongo URI.",
        )
    for old in range(found, version):
        migrations[old - 1](database)
        database.meta.update_one({"_id": "schema", "version": old}, {"$set": {"version": old + 1}})


def _make_time_series(database: Database[Entry], shown: str) -> None:
    try:
        database.create_collection(
            "observations", timeseries={"timeField": "at", "metaField": "run", "granularity": "seconds"}
        )
    except CollectionInvalid:
        pass
    except OperationFailure as error:  # another profile made it in this moment
        if error.code != _NAMESPACE_EXISTS:
            raise
    kinds = [found.get("type") for found in database.list_collections(filter={"name": "observations"})]
    if kinds != ["timeseries"]:
        raise ProfileError(
            f"MongoDB at {shown} has a collection 'observations' in database '{database.name}' that is no time series.",
            hint="Name another database in --mongo URI: mongodb://HOST:PORT/DATABASE.",
        )
