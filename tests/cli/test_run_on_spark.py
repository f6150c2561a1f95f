"""`profile run` with the real parts, as a user calls it: Spark, Kafka and MongoDB, embedded; nothing is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from profiler.report.json_document import schema
from profiler.services.processes import marked_processes
from profiler.services.run_folder import cache_directory

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.mongo]

JOB = """
from pyspark.sql import functions as F
from profiler import Operator, Source, Topology

def upper(rows):
    return rows.select("event_time", F.upper("value").alias("value"))

def count(rows):
    return rows.groupBy("value").agg(F.count("*").alias("n"), F.last("event_time").alias("event_time"))

topology = Topology.chain(
    "small", Source("lines", payloads="lines.jsonl"), upper,
    Operator("count", count, stateful=True, key="value", output="proportional"),
)
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
SHORT = ("--quick", "--windows", "3", "--window", "1s", "--slots", "5")


@pytest.fixture
def cache(tmp_path):
    """A cache of its own, so that the history is empty; the jars are those that are there already."""
    own = tmp_path / "cache"
    own.mkdir()
    jars = cache_directory() / "jars"
    if jars.exists():
        (own / "jars").symlink_to(jars)
    yield own
    left = [each for each in marked_processes() if str(own) in str(each.folder)]
    assert left == []


@pytest.fixture
def job(tmp_path):
    """A folder with a small job and its data."""
    (tmp_path / "job.py").write_text(JOB)
    (tmp_path / "broken.py").write_text(BROKEN)
    (tmp_path / "lines.jsonl").write_text("".join(f"line {number % 7}\n" for number in range(1000)))
    return tmp_path


def started(folder: Path, cache: Path, *arguments: str) -> subprocess.Popen[str]:
    root = str(Path(__file__).parents[2])
    return subprocess.Popen(
        [sys.executable, "-m", "profiler", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": root, "PROFILE_CACHE": str(cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for(progress: str, process: subprocess.Popen[str]) -> None:
    seen = ""
    while progress not in seen:
        line = process.stderr.readline()
        assert line, f"ended early: {seen}"
        seen += line


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=400)
    return process.returncode, out, err


def test_a_profile_ends_with_an_answer_and_a_history(job, cache):
    """Configuration, settings to paste and a document by the schema; the run is in the history afterwards."""
    code, out, err = ended(started(job, cache, "run", "job.py", *SHORT, "--json", "out.json"))
    assert code == 0, err
    assert "Settings to paste" in out
    document = json.loads((job / "out.json").read_text())
    jsonschema.validate(document, schema())
    assert document["engine"] == "spark"
    assert document["best"]["throughput_per_s"] > 0
    assert "WARN" not in err
    assert "ERROR" not in err
    code, out, err = ended(started(job, cache, "history", "list", "--json"))
    assert code == 0, err
    assert document["run"] in out


def test_an_interrupted_profile_is_stored_and_goes_on(job, cache):
    """Ctrl-C in the second round: exit 130, round 1 is kept, `--resume` does not repeat it."""
    process = started(job, cache, "run", "job.py", *SHORT)
    wait_for("round 2", process)
    os.kill(process.pid, signal.SIGINT)
    code, _, err = ended(process)
    assert code == 130
    assert "Interrupted" in err
    _, out, _ = ended(started(job, cache, "history", "list", "--json"))
    (run,) = json.loads(out)["runs"]
    assert run["rounds"] >= 1
    identity = run["run"]
    code, out, err = ended(started(job, cache, "run", "job.py", *SHORT, "--resume", identity))
    assert code == 0, err
    assert "round 1: start" not in err
    assert identity in out


def test_a_killed_profile_leaves_no_process(job, cache):
    """kill -9 of the command: broker, database, Spark and generator end by themselves."""
    process = started(job, cache, "run", "job.py", *SHORT)
    wait_for("round 1", process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    deadline = time.monotonic() + 60
    while left := [each for each in marked_processes() if str(cache) in str(each.folder)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.2)


def test_an_error_in_a_users_operator_names_operator_and_line(job, cache):
    """The message shows the operator, the file and the line of the user's own code; exit 3, no traceback."""
    code, _, err = ended(started(job, cache, "run", "broken.py", *SHORT))
    assert code == 3
    said = err.strip().splitlines()[-1]
    assert "'work'" in said
    assert "broken.py" in said
    assert "no such customer" in said
    assert "Traceback" not in err


def test_too_few_slots_are_refused_before_anything_starts(job, cache):
    """Three tasks need three slots; no broker, database or session is started to find that out."""
    code, _, err = ended(started(job, cache, "run", "job.py", "--slots", "2"))
    assert code == 2
    assert "needs at least 3 slots" in err
    assert not (cache / "runs").exists()


def test_a_broker_that_does_not_answer_is_named(job, cache):
    """`--kafka` that nobody listens on: exit 3 and one sentence."""
    code, _, err = ended(started(job, cache, "run", "job.py", *SHORT, "--kafka", "127.0.0.1:1"))
    assert code == 3
    assert "127.0.0.1:1" in err
    assert "Traceback" not in err


def test_a_database_that_does_not_answer_is_named_without_its_password(job, cache):
    """`--mongo` that nobody listens on: exit 3, and the credentials stay hidden."""
    code, _, err = ended(
        started(job, cache, "run", "job.py", *SHORT, "--mongo", "mongodb://me:secret@127.0.0.1:1/profile")
    )
    assert code == 3
    assert "127.0.0.1:1" in err
    assert "secret" not in err
