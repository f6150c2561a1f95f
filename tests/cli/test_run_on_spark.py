"""`profile run` with the real parts, as a user calls it: Spark, Kafka and MongoDB, embedded; nothing is left behind."""

from __future__ import annotations

import json
import os
import signal

import jsonschema
import psutil
import pytest

from profiler.report.json_document import schema
from tests.cli.commands import processes_of

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
SHORT = ("--quick", "--windows", "3", "--window", "1s", "--warm-up", "3s", "--slots", "5")


@pytest.fixture(autouse=True)
def job(tmp_path):
    """A small job and its data."""
    (tmp_path / "job.py").write_text(JOB)
    (tmp_path / "lines.jsonl").write_text("".join(f"line {number % 7}\n" for number in range(1000)))


def test_a_profile_ends_with_an_answer_and_a_history(command, tmp_path):
    """Configuration, settings to paste and a document by the schema; the run is in the history afterwards."""
    run = command("run", "job.py", *SHORT, "--json", "out.json")
    assert run.ended() == 0, run.err
    assert "Settings to paste" in run.out
    document = json.loads((tmp_path / "out.json").read_text())
    jsonschema.validate(document, schema())
    assert document["engine"] == "spark"
    assert document["best"]["throughput_per_s"] > 0
    assert "WARN" not in run.err
    assert "ERROR" not in run.err
    listed = command("history", "list", "--json")
    assert listed.ended() == 0, listed.err
    assert document["run"] in listed.out


def test_an_interrupted_profile_is_stored_and_goes_on(command):
    """Ctrl-C in the second round: exit 130, round 1 is kept, and `--resume` does not repeat it."""
    run = command("run", "job.py", *SHORT)
    run.wait_for("round 2")
    run.interrupt()
    assert run.ended() == 130
    assert "Interrupted" in run.err
    listed = command("history", "list", "--json")
    assert listed.ended() == 0, listed.err
    (stored,) = json.loads(listed.out)["runs"]
    assert stored["rounds"] >= 1
    identity = stored["run"]
    assert f"--resume {identity}" in run.err
    resumed = command("run", "job.py", *SHORT, "--resume", identity)
    assert resumed.ended() == 0, resumed.err
    assert "round 1: start" not in resumed.err
    assert identity in resumed.out


def test_a_killed_profile_leaves_no_process(command, cache):
    """kill -9 of the command: broker, database, Spark and generator end by themselves."""
    run = command("run", "job.py", *SHORT)
    run.wait_for("round 1")
    os.kill(run.process.pid, signal.SIGKILL)
    run.process.wait()
    _, alive = psutil.wait_procs(processes_of(cache), timeout=60)
    assert not alive
