"""What `profile run` stands on breaks while it measures: one sentence, what was measured is kept, nothing is left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from profiler.history.files.lines import read_history
from profiler.history.records import SeenWindow
from profiler.services.locks import Mode, hold
from profiler.services.run_folder import NEEDED_BYTES
from tests.commands import GuardedMongod, documents_in, files_with, windows_in

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.mongo]

JOB = """
from pathlib import Path
from pyspark.sql import functions as F
from profiler import Operator, Source, Topology

BREAK = Path(__file__).with_name("break")

def shouted(frame):
    if BREAK.exists():
        raise ValueError("no such customer")  # the user's own mistake
    return frame.assign(value=frame["value"].str.upper())

def shout(frames):
    for frame in frames:
        yield shouted(frame)

def count(rows):
    return rows.groupBy("value").agg(F.count("*").alias("n"), F.last("event_time").alias("event_time"))

counted = Operator("count", count, stateful=True, key="value", output="proportional")
shouting = Operator("shout", shout, batches="pandas", schema="key string, value string, event_time timestamp")
lines = Source("lines", payloads="lines.jsonl")
topology = Topology.chain("small", lines, counted)
in_python = Topology.chain("in-python", lines, shouting, counted)
"""
BROKEN = """
from profiler import Operator, Source, Topology

def work(batches):
    for batch in batches:
        raise ValueError("no such customer")  # the user's own mistake
        yield batch

topology = Topology.chain(
    "broken", Source("lines", payloads="lines.jsonl"),
    Operator("work", work, batches="arrow", schema="key string, value string, event_time timestamp"),
)
"""
SHORT = ("--quick", "--windows", "3", "--window", "1s", "--warm-up", "2s", "--slots", "5")
SECRET = "s3cret-Pa55"  # noqa: S105 - of a test


@pytest.fixture(autouse=True)
def job(tmp_path):
    """Small jobs and their data."""
    (tmp_path / "job.py").write_text(JOB)
    (tmp_path / "broken.py").write_text(BROKEN)
    (tmp_path / "lines.jsonl").write_text("".join(f"line {number % 7}\n" for number in range(1000)))


@pytest.fixture
def guarded(tmp_path_factory):
    """A mongod that somebody else runs, in which the user `me` may write."""
    server = GuardedMongod(tmp_path_factory.mktemp("guarded"), "me", SECRET, "readWrite")
    yield server
    server.kill()


@pytest.fixture
def left_over(command):
    """What the doctor says of processes that a run left; that none is left after any test, the cache sees."""

    def ask():
        doctor = command("doctor", "--json")
        doctor.ended()
        (found,) = [check["found"] for check in json.loads(doctor.out) if check["name"] == "left-over processes"]
        return found

    return ask


@pytest.fixture
def stored(command, tmp_path):
    """The windows of the only run in the history, as a user gets them out of it."""

    def export():
        listed = command("history", "list", "--json")
        assert listed.ended() == 0, listed.err
        (run,) = [each["run"] for each in json.loads(listed.out)["runs"]]
        assert command("history", "export", run, "run.jsonl").ended() == 0
        return windows(tmp_path / "run.jsonl")

    return export


def windows(file: Path) -> list[SeenWindow]:
    return [record for record in read_history(file).records if isinstance(record, SeenWindow)]


def unsaved(cache: Path) -> list[SeenWindow]:
    return [window for file in cache.glob("unsaved/*") for window in windows(file)]


def line_of(code: str, text: str) -> int:
    return next(number for number, line in enumerate(code.splitlines(), 1) if text in line)


def test_a_killed_database_comes_back_and_a_killed_broker_ends_the_profile(command, cache, stored, left_over):
    """kill -9 of both in the middle of a round: mongod is back and gets what it missed, the broker is named."""
    run = command("run", "job.py", *SHORT)
    run.wait_for_windows(1)
    with hold(cache / "history" / "start.lock", Mode.EXCLUSIVE):  # nobody can start it again before this is let go
        run.kill("bin/mongod")
        run.wait_until(lambda: unsaved(cache))
        missed = unsaved(cache)
    run.wait_until(lambda: not list(cache.glob("unsaved/*")))
    run.kill("kafka.Kafka")
    assert run.ended() == 3
    assert run.error.startswith("The Kafka broker was killed by SIGKILL. Where nobody did that, ")
    assert "kafka.log" in run.error
    assert "history is not complete" not in run.err
    assert not list(cache.glob("unsaved/*"))
    assert left_over() == "none"
    seen = {window.at for window in stored()}
    assert seen > {window.at for window in missed}


def test_what_a_lost_database_missed_is_imported_and_a_broken_operator_is_named(command, cache, tmp_path, guarded):
    """kill -9 of a database that is not ours, then an error in a Python operator of the user's own file.

    The windows that the database had and those of the file are the whole; the password is nowhere.
    """
    uri = f"mongodb://me:{SECRET}@{guarded.address}/history?authSource=admin"
    run = command("run", "job.py:in_python", *SHORT, "--mongo", uri)
    run.wait_for_windows(1, guarded.admin_uri)
    guarded.kill()
    run.wait_until(lambda: unsaved(cache))
    (tmp_path / "break").touch()
    assert run.ended() == 3
    line = f"job.py:{line_of(JOB, 'raise')}: raise ValueError"
    assert run.error.startswith("Operator 'shout' failed: ValueError: no such customer (")
    assert line in run.error
    (file,) = cache.glob("unsaved/*")
    assert f"'profile history import {file}' adds it." in run.err
    assert f"No MongoDB answers at mongodb://***@{guarded.address}/history" in run.err
    saved = unsaved(cache)
    guarded.start()
    before = windows_in(guarded.admin_uri)
    imported = command("history", "import", str(file), "--mongo", uri)
    assert imported.ended() == 0, imported.err
    assert not file.exists()
    assert before
    # A window that was on its way when the database died may be in both.
    assert windows_in(guarded.admin_uri) == sorted({*before, *(window.at for window in saved)})
    assert files_with(SECRET, tmp_path) == []
    stored = documents_in(guarded.admin_uri)
    assert any("in-python" in document for document in stored)
    assert not [document for document in stored if SECRET in document]


def test_a_disk_that_fills_up_ends_the_profile(command, cache, small_disk, stored):
    """The folder of the run can take no more; the history, on another disk, has what was measured."""
    runs = cache / "runs"
    run = command("run", "job.py", *SHORT, wrapper=small_disk(runs, NEEDED_BYTES + 100_000_000))
    run.wait_for_windows(1)
    run.fill_disk(runs)
    assert run.ended() == 3
    assert f"the disk of {runs}" in run.error.lower()
    assert "is full" in run.error
    assert "Free some space, or let PROFILE_CACHE name a directory on another disk." in run.error
    assert stored()


def test_an_operator_that_never_works_is_named_with_its_line(command, spark_kafka, stored):
    """An error at the first row: nothing was measured, and the run is known all the same."""
    run = command("run", "broken.py", *SHORT, "--kafka", spark_kafka.address)
    assert run.ended() == 3
    assert run.error.startswith("Operator 'work' failed: ValueError: no such customer (")
    assert f"broken.py:{line_of(BROKEN, 'raise')}: raise ValueError" in run.error
    assert stored() == []
