"""A given MongoDB is asked politely, and its credentials are never shown."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pymongo
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiler.errors import ProfileError, UsageError
from profiler.services.mongo import GivenMongo, open_mongo, redacted
from profiler.services.mongod import find_mongod
from profiler.services.ports import LOOPBACK, free_ports, listens
from profiler.services.processes.child import Child, Grace
from profiler.services.run_folder import RunFolder

SECRET = "s3cret-Pa55"  # noqa: S105 - of a test


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("mongodb://localhost:27017", "mongodb://localhost:27017"),
        ("mongodb://me:pw@host:1/db?authSource=admin", "mongodb://***@host:1/db"),
        ("mongodb+srv://me:pw@cluster.example.org/db", "mongodb+srv://***@cluster.example.org/db"),
        ("mongodb://me:p@w@host/db", "mongodb://***@host/db"),
        ("mongodb://me:p?w@host", "mongodb://***@host"),
        ("mongodb://host/?tlsCertificateKeyFilePassword=pw", "mongodb://host/"),
        ("me:pw@host", "mongodb://***@host"),
        ("mongodb://me:pw", "mongodb://me:…"),
        ("me:pw", "mongodb://me:…"),
    ],
)
def test_credentials_and_options_are_taken_out(uri: str, shown: str) -> None:
    """Well-formed and malformed ones."""
    assert redacted(uri) == shown


@given(st.text(alphabet="abc:/?@#%&= é", max_size=20), st.text(alphabet="abc:/?@#%", max_size=20))
def test_no_password_survives(user: str, rest: str) -> None:
    """Whatever surrounds it, a password before an @ is not shown."""
    assert SECRET not in redacted(f"mongodb://{user}:{SECRET}{rest}@host:1/db?x=y")


def test_a_given_database_that_does_not_answer_is_refused() -> None:
    """The credentials are not in the message, nor in what caused it."""
    port = free_ports(1)[0]
    with pytest.raises(ProfileError, match="No MongoDB answers") as raised:
        GivenMongo(f"mongodb://me:{SECRET}@{LOOPBACK}:{port}/db", within_s=0.3)
    assert f"mongodb://***@{LOOPBACK}:{port}/db" in raised.value.message
    assert SECRET not in f"{raised.value}{raised.value.__cause__}"
    assert raised.value.exit_code == 3


@pytest.mark.parametrize(
    "wrong",
    [
        f"http://me:{SECRET}@host",
        "",
        f"mongodb://me:{SECRET}@host:notaport",
        f"mongodb://me:{SECRET}/@h:1:2",
        f"mongodb://me:{SECRET}",
    ],
)
def test_a_malformed_uri_is_wrong_usage(wrong: str) -> None:
    """Exit code 2, and no secret in it."""
    with pytest.raises(UsageError, match="is no MongoDB URI") as raised:
        GivenMongo(wrong)
    assert SECRET not in str(raised.value)


def test_without_a_mongod_the_ways_out_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither on PATH nor in the package."""
    monkeypatch.setattr("profiler.services.mongod.BUNDLE", "no-such-package")
    with pytest.raises(ProfileError, match="No MongoDB") as raised:
        find_mongod({"PATH": ""})
    assert "--mongo" in raised.value.hint


def test_a_folder_that_cannot_be_used_is_told_with_the_way_out(tmp_path: Path) -> None:
    """A file is where the directory should be."""
    (tmp_path / "cache").touch()
    with pytest.raises(ProfileError, match="cache/history can't be used: Not a directory") as raised:
        open_mongo(None, tmp_path / "cache")
    assert "PROFILE_CACHE" in raised.value.hint


def test_mongod_on_path_goes_before_the_bundled_one(tmp_path: Path) -> None:
    """A user's own choice wins."""
    own = tmp_path / "mongod"
    own.touch(mode=0o755)
    assert find_mongod({"PATH": str(tmp_path)}).executable == own


@pytest.fixture
def guarded(run: RunFolder) -> Iterator[str]:
    """A mongod that asks for credentials; the address of it."""
    port = free_ports(1)[0]
    data = run.data / "mongo"
    data.mkdir()
    command = [str(find_mongod().executable), "--dbpath", str(data), "--bind_ip", LOOPBACK, "--port", str(port)]
    with Child.start("mongod", [*command, "--auth", "--nounixsocket"], run, grace=Grace(terminate_s=20)):
        address = f"{LOOPBACK}:{port}"
        with pymongo.MongoClient(f"mongodb://{address}", serverSelectionTimeoutMS=30_000) as client:
            # The localhost exception: as long as there is no user, one may be made from here.
            client.admin.command("createUser", "me", pwd=SECRET, roles=["root"])
        yield address


@pytest.mark.mongo
def test_wrong_credentials_are_told_from_no_answer(guarded: str) -> None:
    """Wrong, missing and right ones."""
    for wrong in (f"mongodb://me:wrong-{SECRET}@{guarded}", f"mongodb://{guarded}"):
        with pytest.raises(ProfileError, match="refuses the credentials") as raised:
            GivenMongo(wrong)
        assert SECRET not in str(raised.value)
        assert raised.value.exit_code == 3
    with open_mongo(f"mongodb://me:{SECRET}@{guarded}/history?authSource=admin", Path("unused")) as mongo:
        mongo.check()


@pytest.mark.mongo
def test_a_given_database_that_dies_is_not_revived(run: RunFolder) -> None:
    """It is not ours: revive only says that it is still gone."""
    port = free_ports(1)[0]
    data = run.data / "mongo"
    data.mkdir()
    command = [str(find_mongod().executable), "--dbpath", str(data), "--bind_ip", LOOPBACK, "--port", str(port)]
    server = Child.start("mongod", [*command, "--nounixsocket"], run)
    with server, GivenMongo(f"mongodb://{LOOPBACK}:{port}", within_s=30) as mongo:
        process = psutil.Process(server.pid)
        os.kill(server.pid, signal.SIGKILL)
        psutil.wait_procs([process], timeout=30)
        mongo.within_s = 0.3
        with pytest.raises(ProfileError, match="No MongoDB answers"):
            mongo.revive()
    assert not listens(port)
