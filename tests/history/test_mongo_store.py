"""MongoDB as a store: what only a real database can show."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pymongo
import pytest

from profiler.errors import ProfileError, UsageError
from profiler.history.mongo.opening import revived_store
from profiler.history.mongo.store import MongoStore
from profiler.history.store import StoreFailed
from profiler.services.mongo import open_mongo
from tests.history.histories import NOON, a_run, decided, seen

pytestmark = pytest.mark.mongo

PASSWORD = "s3cr3t"  # noqa: S105 - of a server that lives for one test


@pytest.fixture
def database(mongo_uri):
    """Look at the test's database from outside."""
    with pymongo.MongoClient[dict[str, Any]](mongo_uri) as client:
        yield client.get_default_database()


@pytest.fixture
def opened(request):
    """Open stores that are closed at the end of the test."""

    def open_store(uri: str, **options: Any) -> MongoStore:
        store = MongoStore(uri, **options)
        request.addfinalizer(store.close)
        return store

    return open_store


def test_windows_are_a_time_series_by_run(opened, mongo_uri, database):
    """With the moment as its time, and run, round and phase as what tells the series apart."""
    opened(mongo_uri).add_windows("run-1", [seen(0)])
    (collection,) = database.list_collections(filter={"name": "observations"})
    assert collection["options"]["timeseries"]["timeField"] == "at"
    assert collection["options"]["timeseries"]["metaField"] == "run"
    entry = database.observations.find_one({})
    assert entry["run"] == {"id": "run-1", "round": 1, "block": None, "phase": "stress"}
    assert entry["at"] == NOON.replace(microsecond=123_000, tzinfo=None)


def test_looking_up_goes_by_an_index(opened, mongo_uri, database):
    """A history of years must answer like one of a day."""
    opened(mongo_uri).begin_run(a_run())
    for collection, wanted in ((database.rounds, {"run": "run-1"}), (database.runs, {"topology": "word-count"})):
        assert collection.find(wanted).explain()["queryPlanner"]["winningPlan"]["inputStage"]["stage"] == "IXSCAN"


def test_a_new_history_is_marked_with_the_schema_version(opened, mongo_uri, database):
    """So that a later version knows what it meets."""
    opened(mongo_uri)
    assert database.meta.find_one({"_id": "schema"}) == {"_id": "schema", "version": 1}


def test_a_history_of_a_newer_version_is_refused_untouched(mongo_uri, database):
    """What this version does not know it must not write into."""
    database.meta.insert_one({"_id": "schema", "version": 2})
    with pytest.raises(ProfileError, match=r"schema version 2, and this profile knows up to 1.*Update profile"):
        MongoStore(mongo_uri)
    assert database.list_collection_names() == ["meta"]


def test_a_history_of_an_older_version_is_migrated_step_by_step(opened, mongo_uri, database):
    """Each step once, in order; the next opening finds nothing to do."""
    opened(mongo_uri).begin_run(a_run())
    steps = []

    def step(number):
        return lambda migrated: steps.append((number, migrated.runs.count_documents({})))

    opened(mongo_uri, version=3, migrations=(step(1), step(2)))
    opened(mongo_uri, version=3, migrations=(step(1), step(2)))
    assert steps == [(1, 1), (2, 1)]
    assert database.meta.find_one({"_id": "schema"})["version"] == 3


def test_a_migration_that_failed_is_taken_up_where_it_stopped(opened, mongo_uri, database):
    """The version tells how far it came."""
    opened(mongo_uri)
    steps = []

    def broken(_):
        raise ProfileError("broken")

    with pytest.raises(ProfileError, match="broken"):
        opened(mongo_uri, version=3, migrations=(lambda _: steps.append(1), broken))
    opened(mongo_uri, version=3, migrations=(broken, lambda _: steps.append(2)))
    assert steps == [1, 2]


def test_many_profiles_may_open_a_new_history_at_once(mongo_uri):
    """Whoever comes second finds what the first has made."""
    with ThreadPoolExecutor(8) as pool:
        stores = list(pool.map(lambda _: MongoStore(mongo_uri), range(8)))
    for number, store in enumerate(stores):
        store.begin_run(a_run(f"run-{number}"))
    assert len(stores[0].find_runs()) == 8
    for store in stores:
        store.close()


def test_a_foreign_collection_of_that_name_is_refused(mongo_uri, database):
    """Somebody else's data must not be mixed with ours."""
    database.observations.insert_one({"somebody": "else's"})
    with pytest.raises(ProfileError, match=r"'observations'.*no time series.*another database"):
        MongoStore(mongo_uri)


def test_a_database_that_is_only_there_for_authentication_is_not_written_to(opened, mongod):
    """`…/admin` in a URI says where the user is known, not where to store."""
    opened(f"{mongod.uri}/admin").begin_run(a_run("run-in-admin"))
    with pymongo.MongoClient[dict[str, Any]](mongod.uri) as client:
        assert "runs" not in client.admin.list_collection_names()
        assert client.profile.runs.find_one({"_id": "run-in-admin"}) is not None
        client.drop_database("profile")


def test_what_was_acknowledged_survives_a_killed_mongod(own_mongod, opened):
    """It is in the journal before the call returns."""
    server = own_mongod()
    store = opened(server.uri)
    store.begin_run(a_run())
    store.add_windows("run-1", [seen(10), seen(20)])
    store.save_round("run-1", decided(1))
    server.kill()
    server.start()
    assert store.load_run("run-1").run == a_run()
    assert store.windows("run-1") == (seen(10), seen(20))
    assert store.rounds("run-1") == (decided(1),)


def test_every_call_to_a_dead_mongod_ends_with_a_clear_sentence(own_mongod, opened):
    """Within its time limit, as an error that may be answered by trying again."""
    server = own_mongod()
    store = opened(server.uri, timeout_s=0.3)
    server.kill()
    calls = (
        lambda: store.begin_run(a_run()),
        lambda: store.add_windows("run-1", [seen(1)]),
        lambda: store.save_round("run-1", decided(1)),
        store.find_runs,
        lambda: store.load_run("run-1"),
        lambda: store.rounds("run-1"),
        lambda: store.windows("run-1"),
        lambda: store.result("run-1"),
        lambda: store.delete_run("run-1"),
        lambda: MongoStore(server.uri, timeout_s=0.3),
    )
    for call in calls:
        with pytest.raises(StoreFailed, match=rf"MongoDB at {server.uri} does not answer \(\w+\)\. Check"):
            call()


def test_wrong_credentials_are_refused_without_showing_them(own_mongod):
    """Wrong password, unknown user, no user at all."""
    server = own_mongod("--auth")
    with pymongo.MongoClient[dict[str, Any]](server.uri) as client:
        client.admin.command("createUser", "profile", pwd=PASSWORD, roles=["readWriteAnyDatabase"])
    address = server.uri.removeprefix("mongodb://")
    for credentials in ("profile:wr0ng@", "nobody:wr0ng@", ""):
        with pytest.raises(StoreFailed, match="refuses the credentials") as refused:
            MongoStore(f"mongodb://{credentials}{address}")
        assert "wr0ng" not in str(refused.value)
        assert refused.value.__cause__ is None
    store = MongoStore(f"mongodb://profile:{PASSWORD}@{address}/?authSource=admin")
    store.begin_run(a_run())
    assert store.load_run("run-1").run == a_run()
    store.close()


@pytest.mark.parametrize("uri", ["mongodb://u:p@ss:w0rd@host", "mongodb://host:port", "mongodb://"])
def test_a_malformed_uri_is_wrong_usage(uri):
    """Its credentials are not shown either."""
    with pytest.raises(UsageError, match="is no MongoDB URI") as refused:
        MongoStore(uri)
    assert "w0rd" not in str(refused.value)


def test_what_bson_cannot_hold_is_a_clear_error(opened, mongo_uri):
    """Not a traceback out of the middle of the client."""
    with pytest.raises(StoreFailed, match="can't hold what was measured"):
        opened(mongo_uri).begin_run(a_run(parameters={"big": 2**70}))


def test_the_store_of_a_shared_mongod_is_reopened_after_its_death(tmp_path):
    """The server is started again on its data, and what was stored is there."""
    with open_mongo(None, tmp_path) as mongo:
        store = revived_store(mongo)
        store.begin_run(a_run())
        store.close()
        os.kill(mongo.pid, signal.SIGKILL)  # type: ignore[attr-defined]
        store = revived_store(mongo)
        assert store.load_run("run-1").run == a_run()
        store.close()
