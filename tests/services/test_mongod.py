"""One mongod serves all profiles of a user: the history stays, the process ends with its last user."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pymongo
import pytest

from profiler.services.mongo import open_mongo
from profiler.services.mongod import Mongod, SharedMongod, find_mongod, last_words
from profiler.services.ports import LOOPBACK, free_ports
from profiler.services.processes.child import ServiceDied
from profiler.services.processes.marked import marked_processes

USER = """
    import signal, sys
    from pathlib import Path
    from profiler.services.mongo import open_mongo

    mongo = open_mongo(None, Path(sys.argv[1]))
"""
READY = """
    print("ready", flush=True)
"""


def kill(pid: int) -> None:
    """Kill and wait until it is gone."""
    process = psutil.Process(pid)
    os.kill(pid, signal.SIGKILL)
    psutil.wait_procs([process], timeout=30)


@contextlib.contextmanager
def suspended(pid: int) -> Iterator[Callable[[], None]]:
    """Stop a process from answering, until it is resumed."""
    process = psutil.Process(pid)
    process.suspend()
    try:
        yield process.resume
    finally:
        process.resume()


@pytest.mark.mongo
def test_the_history_outlives_the_process(tmp_path: Path) -> None:
    """What one run stored, the next one reads; between them nothing runs; only loopback is open."""
    with open_mongo(None, tmp_path) as mongo:
        mongo.check()
        with pymongo.MongoClient(mongo.uri) as client:
            client.profile.runs.insert_one({"name": "first"})
        server = psutil.Process(mongo.pid)
        open_at = {each.laddr.ip for each in server.net_connections() if each.status == "LISTEN"}
        assert open_at == {LOOPBACK}
    assert marked_processes(tmp_path) == ()
    with open_mongo(None, tmp_path) as mongo, pymongo.MongoClient(mongo.uri) as client:
        assert client.profile.runs.count_documents({"name": "first"}) == 1


@pytest.mark.mongo
def test_two_profiles_share_one_mongod_that_ends_with_the_last(tmp_path: Path) -> None:
    """Whoever goes first leaves it to the other, also the one that started it."""
    first = open_mongo(None, tmp_path)
    second = open_mongo(None, tmp_path)
    assert (first.uri, first.pid) == (second.uri, second.pid)
    first.close()
    first.close()
    second.check()
    second.close()
    assert marked_processes(tmp_path) == ()


@pytest.mark.mongo
def test_another_process_joins_and_may_be_killed(parent, left, tmp_path: Path) -> None:
    """kill -9 of the profile that started mongod leaves it to the other; kill -9 of the last one ends it."""
    starter = parent(USER + READY + "    signal.pause()\n")
    with open_mongo(None, tmp_path) as mongo:
        assert len(marked_processes(tmp_path)) == 2
        starter.kill()
        starter.wait()
        mongo.check()
        last = parent(USER + READY + "    signal.pause()\n")
    assert len(marked_processes(tmp_path)) == 2
    last.kill()
    assert left() == []


@pytest.mark.mongo
def test_a_user_that_ends_without_closing_leaves_nothing(parent, left) -> None:
    """An error that nobody catches."""
    assert parent(USER + READY + "    raise SystemExit(5)\n").wait() == 5
    assert left() == []


@pytest.mark.mongo
def test_ctrl_c_lets_the_user_store_before_mongod_ends(parent, left) -> None:
    """The database is in another session than the terminal."""
    handling = """
    try:
        print("ready", flush=True)
        signal.pause()
    except KeyboardInterrupt:
        mongo.check()
        mongo.close()
        print("stored", flush=True)
    """
    program = parent(USER + handling)
    os.killpg(program.pid, signal.SIGINT)
    assert program.communicate()[0] == "stored\n"
    assert left() == []


@pytest.mark.mongo
def test_a_killed_mongod_is_reported_and_revived_with_its_data(tmp_path: Path) -> None:
    """At the same address, so that clients find it again; also for the other user."""
    with open_mongo(None, tmp_path) as mongo, open_mongo(None, tmp_path) as other:
        with pymongo.MongoClient(mongo.uri) as client:
            client.profile.get_collection("runs", write_concern=pymongo.WriteConcern(j=True)).insert_one({"n": 1})
            kill(mongo.pid)
            with pytest.raises(ServiceDied, match="MongoDB has died") as raised:
                mongo.check()
            assert "mongod.log" in raised.value.hint
            address = mongo.uri
            mongo.revive()
            assert mongo.uri == address
            assert client.profile.runs.count_documents({"n": 1}) == 1
        other.revive()
        assert other.pid == mongo.pid
        mongo.revive()
    assert marked_processes(tmp_path) == ()


@pytest.mark.mongo
def test_a_starting_mongod_whose_starter_was_killed_is_joined(tmp_path: Path) -> None:
    """A second one on the same data would be refused; the first is waited for."""
    folder = tmp_path / "history"
    with SharedMongod(folder, find_mongod()) as mongo, suspended(mongo.pid) as resume:
        thread = threading.Timer(3.0, resume)  # longer than a question is given
        thread.start()
        with SharedMongod(folder, find_mongod()) as other:
            assert other.pid == mongo.pid
        thread.join()


@pytest.mark.mongo
def test_an_interrupted_start_leaves_nothing(tmp_path: Path) -> None:
    """Ctrl-C while waiting for the first answer."""

    def interrupt(_: object, __: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("profiler.services.mongod.answers", interrupt)
        with pytest.raises(KeyboardInterrupt):
            SharedMongod(tmp_path, find_mongod())
    assert marked_processes(tmp_path) == ()


@pytest.mark.mongo
def test_a_port_that_is_taken_meanwhile_is_replaced(tmp_path: Path) -> None:
    """The first choice loses the race; the second works."""
    with socket.socket() as server:
        server.bind((LOOPBACK, 0))
        server.listen()
        taken = server.getsockname()[1]
        choices = [(taken,), free_ports(1)]
        lines: list[str] = []
        with SharedMongod(tmp_path, find_mongod(), choose_ports=lambda _: choices.pop(0), report=lines.append) as mongo:
            assert not mongo.uri.endswith(f":{taken}")
    assert lines == ["Starting MongoDB", "Starting MongoDB again: its port was taken"]


@pytest.mark.mongo
def test_a_data_directory_that_is_spoiled_is_an_error_with_mongods_words(tmp_path: Path) -> None:
    """And nothing is left running."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "WiredTiger").write_text("spoiled")
    (data / "WiredTiger.turtle").write_text("spoiled")
    (data / "storage.bson").write_text("spoiled")
    with pytest.raises(ServiceDied, match="MongoDB could not start: ") as raised:
        SharedMongod(tmp_path, find_mongod())
    assert "mongod.log" in raised.value.hint


def test_a_program_that_is_no_mongod_is_an_error(tmp_path: Path) -> None:
    """It ends at once, and its lock is free again."""
    for _ in range(2):
        with pytest.raises(ServiceDied, match="MongoDB could not start"):
            SharedMongod(tmp_path, Mongod(Path("/bin/false"), "test"))


def test_the_last_error_of_a_log_tells_most(tmp_path: Path) -> None:
    """Errors before messages, and lines that are no JSON are skipped."""
    log = tmp_path / "mongod.log"
    failed = '{"s":"E","msg":"Failed","attr":{"error":"no room"}}'
    log.write_text("\n".join(['{"s":"I","msg":"starting"}', "noise", failed, '{"s":"I","msg":"bye"}']))
    assert last_words(log) == "Failed no room"
    assert last_words(tmp_path / "none.log") == ""
