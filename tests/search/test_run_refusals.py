"""What is missing or wrong is told by `profile run` in one sentence, before anything is measured; nothing is left."""

from __future__ import annotations

import socket

import pytest

from profiler.services.ports import LOOPBACK, free_ports
from tests.commands import GuardedMongod, files_with, own_uri

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.mongo]

JOB = """
from profiler import Operator, Source, Topology

topology = Topology.chain(
    "small", Source("lines", payloads="lines.jsonl"), Operator("keep", lambda rows: rows),
    Operator("count", lambda rows: rows.groupBy("value").count(), stateful=True, key="value"),
)
"""
SECRET = "s3cret-Pa55"  # noqa: S105 - of a test


@pytest.fixture(autouse=True)
def job(tmp_path):
    """A job that needs three slots."""
    (tmp_path / "job.py").write_text(JOB)
    (tmp_path / "lines.jsonl").write_text("a line\n")


@pytest.fixture
def listener():
    """Something that listens, lets everybody in and says nothing."""
    with socket.socket() as server:
        server.bind((LOOPBACK, 0))
        server.listen()
        yield f"{LOOPBACK}:{server.getsockname()[1]}"


@pytest.fixture
def guarded(tmp_path_factory):
    """A mongod that asks for credentials and lets the user `me` read only."""
    server = GuardedMongod(tmp_path_factory.mktemp("guarded"), "me", SECRET, "read")
    yield server
    server.kill()


def nothing_started(cache):
    return {each.name for each in cache.iterdir()} <= {"jars"}


@pytest.mark.parametrize(
    ("arguments", "there_are"),
    [
        (("--slots", "2"), ", one per task, but there are 2. Give it --slots 3 or more."),
        (("--master", "local[2]"), ", but local[2] has 2. Give Spark more: --master 'local[3]' or a cluster."),
    ],
)
def test_too_few_slots_are_refused_before_anything_starts(command, cache, arguments, there_are):
    """Three tasks need three slots, which neither broker nor database nor Spark is needed to find out."""
    run = command("run", "job.py", *arguments)
    assert run.ended() == 2
    assert run.error == f"Topology 'small' needs at least 3 slots{there_are}"
    assert nothing_started(cache)


def test_no_java_is_told_before_anything_starts(command, cache):
    """Neither JAVA_HOME nor PATH leads to one."""
    run = command("run", "job.py", PATH="", JAVA_HOME="")
    assert run.ended() == 3
    assert run.error.startswith("Java 17 or newer was not found")
    assert "Install a JDK or JRE 17 or newer" in run.error
    assert nothing_started(cache)


def test_no_network_and_no_jars_are_told_before_anything_starts(command, cache, tmp_path):
    """An empty cache, and a repository where nobody answers."""
    (cache / "jars").unlink()
    (tmp_path / "jgo.conf").write_text(f"[repositories]\ncentral = http://{LOOPBACK}:{free_ports(1)[0]}\n")
    run = command("run", "job.py", JGO_CONFIG_FILE=str(tmp_path / "jgo.conf"), NO_PROXY=LOOPBACK)
    assert run.ended() == 3
    assert f"for the connector is not in the cache {cache}, and it could not be fetched" in run.error
    assert "Run once with a network" in run.error
    assert not (cache / "history").exists()


def test_a_small_disk_is_told_before_anything_starts(command, cache, small_disk):
    """50 MB for the folders of runs."""
    run = command("run", "job.py", wrapper=small_disk(cache / "runs", 50_000_000))
    assert run.ended() == 3
    assert f"The disk of {cache / 'runs'} has 0.05 GB free, and a profile needs 2.00 GB." in run.error
    assert "PROFILE_CACHE" in run.error
    assert not (cache / "history").exists()


def test_a_cache_that_cannot_be_used_is_told(command, tmp_path):
    """A file is where its directory should be."""
    (tmp_path / "file").touch()
    for arguments in (("run", "job.py"), ("history", "list")):
        refused = command(*arguments, PROFILE_CACHE=str(tmp_path / "file"))
        assert refused.ended() == 3
        assert "Not a directory" in refused.error or "File exists" in refused.error
        assert "PROFILE_CACHE" in refused.error


def test_servers_that_do_not_answer_are_named_without_their_password(command, cache, tmp_path, listener):
    """Nobody listens there, or something else does: no broker and no database."""
    nobody = f"{LOOPBACK}:{free_ports(1)[0]}"
    brokers = {at: command("run", "job.py", "--kafka", at) for at in (nobody, listener)}
    databases = {
        at: command("run", "job.py", "--mongo", f"mongodb://me:{SECRET}@{at}/history") for at in (nobody, listener)
    }
    assert [run.ended() for run in brokers.values()] == [3, 3]
    assert brokers[nobody].error == (
        f"No Kafka broker answers at {nobody} within 10 s. "
        "Check the address and that the broker runs, or leave --kafka out."
    )
    assert brokers[listener].error == (
        f"Something listens at {listener}, but does not answer as a plain Kafka broker within 10 s. "
        "Neither TLS nor SASL is supported: let --kafka name a plaintext listener, or leave it out."
    )
    for at, run in databases.items():
        assert run.ended() == 3
        assert f"No MongoDB answers at mongodb://***@{at}/history within 10 s" in run.error
        assert "Check the URI and that it runs, or leave --mongo out." in run.error
        assert "Kafka" not in run.err, "what it stands on is asked first"
    assert files_with(SECRET, tmp_path) == []


def test_credentials_that_a_database_refuses_are_told_and_stay_secret(command, cache, tmp_path, guarded):
    """None, wrong ones, and those of somebody who may not write: all before broker and Spark are started."""
    runs = [
        command("run", "job.py", "--mongo", f"mongodb://{credentials}{guarded.address}/history?authSource=admin")
        for credentials in ("", f"me:wrong-{SECRET}@", f"me:{SECRET}@")
    ]
    debugged = command("run", "job.py", "--mongo", f"mongodb://me:wrong-{SECRET}@{guarded.address}", "--debug")
    assert debugged.ended() == 3
    assert "Traceback" in debugged.err
    for run in runs:
        assert run.ended() == 3
        assert f"{guarded.address}/history refuses the credentials. Check user, password and authSource" in run.error
        assert "Kafka" not in run.err
    assert files_with(SECRET, tmp_path) == []


def test_a_taken_port_is_replaced(command, cache):
    """Somebody else listens where the database was last time; it moves, and has its data."""
    assert command("history", "list").ended() == 0
    before = own_uri(cache)
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((LOOPBACK, int(before.rpartition(":")[2])))
        server.listen()
        assert command("history", "list").ended() == 0
    assert own_uri(cache) != before
