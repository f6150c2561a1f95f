"""The keeper and a real mongod that dies while a profile runs."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from profiler.experiment.events import RoundDecided, TrialStarted
from profiler.history.files.exchange import import_file
from profiler.history.keeper import Keeper, Kept, Patience
from profiler.history.mongo.opening import revived_store
from profiler.history.mongo.store import MongoStore
from profiler.services.mongo import open_mongo
from tests.history.histories import a_result, a_run, decided
from tests.history.test_keeper import throughputs, window_seen

pytestmark = pytest.mark.mongo

PATIENT = Patience(first_retry_s=0.1, longest_retry_s=0.5, at_close_s=60.0)
IMPATIENT = Patience(first_retry_s=0.1, longest_retry_s=0.1, at_close_s=0.2)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "run-1.jsonl"


def opened(server):
    return lambda: MongoStore(server.uri, timeout_s=1.0)


def test_a_mongod_that_is_back_in_time_gets_all_that_it_missed(own_mongod, file, wait_until):
    """Killed within a round, back within the next one."""
    server = own_mongod()
    with Keeper(opened(server), a_run(), file, patience=PATIENT) as keeper:
        keeper(TrialStarted(1, decided(1).trial))
        keeper(window_seen(0))
        server.kill()
        for number in range(1, 20):
            keeper(window_seen(number))
        keeper(RoundDecided(decided(1)))
        wait_until(file.exists)
        server.start()
        wait_until(lambda: not file.exists())
        keeper.keep_result(a_result(rounds=1))
    assert keeper.close() == Kept()
    store = opened(server)()
    assert throughputs(store) == list(range(20))
    assert store.rounds("run-1") == (decided(1),)
    assert store.result("run-1") == a_result(rounds=1)
    store.close()


def test_what_a_mongod_misses_that_is_back_too_late_is_imported_from_the_file(own_mongod, file, wait_until):
    """What it had before its death and what the file holds make up the whole."""
    server = own_mongod()
    with Keeper(opened(server), a_run(), file, patience=IMPATIENT) as keeper:
        keeper(window_seen(0))
        early = opened(server)()
        wait_until(lambda: throughputs(early) == [0])
        early.close()
        server.kill()
        for number in range(1, 20):
            keeper(window_seen(number))
        keeper(RoundDecided(decided(1)))
    kept = keeper.close()
    assert (kept.file, kept.lost) == (file, 0)
    assert f"MongoDB at {server.uri} does not answer" in kept.reason
    server.start()
    store = opened(server)()
    assert throughputs(store) == [0]
    import_file(store, file)
    assert throughputs(store) == list(range(20))
    assert store.rounds("run-1") == (decided(1),)
    store.close()


def test_a_mongod_of_our_own_is_brought_back(tmp_path, file, wait_until):
    """It is the keeper who notices, and who has it started again."""
    with open_mongo(None, tmp_path) as mongo:
        with Keeper(lambda: revived_store(mongo), a_run(), file, patience=PATIENT) as keeper:
            keeper(window_seen(0))
            first = mongo.pid  # type: ignore[attr-defined]
            os.kill(first, signal.SIGKILL)
            for number in range(1, 20):
                keeper(window_seen(number))
        assert keeper.close() == Kept()
        assert mongo.pid != first  # type: ignore[attr-defined]
        store = revived_store(mongo)
        assert throughputs(store) == list(range(20))
        store.close()


def test_two_profiles_at_once_do_not_disturb_each_other(mongo_uri, tmp_path):
    """Each finds its own windows and rounds, all of them."""

    def profile(name: str) -> Kept:
        file = tmp_path / f"{name}.jsonl"
        with Keeper(lambda: MongoStore(mongo_uri), a_run(name), file) as keeper:
            for number in range(1, 6):
                keeper(TrialStarted(number, decided(number).trial))
                for value in range(20):
                    keeper(window_seen(100 * number + value))
                keeper(RoundDecided(decided(number)))
        return keeper.close()

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(profile, ("one", "two"))) == [Kept(), Kept()]
    store = MongoStore(mongo_uri)
    for name in ("one", "two"):
        assert throughputs(store, name) == [100 * number + value for number in range(1, 6) for value in range(20)]
        assert store.rounds(name) == tuple(map(decided, range(1, 6)))
    store.close()
