"""A profile of a job that waits, with the real parts: tasks go where the waiting is."""

from __future__ import annotations

import json

import jsonschema
import pytest

from profiler.questions.schemas import PROFILE

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.mongo]

JOB = """
import time
from pyspark.sql import functions as F
from profiler import Operator, Source, Topology

def parse(rows):
    return rows.select("event_time", F.upper("value").alias("value"))

def ask(batches):
    for batch in batches:
        time.sleep(0.010 * batch.num_rows)
        yield batch

def mark(rows):
    return rows.select("event_time", F.concat("value", F.lit("!")).alias("value"))

topology = Topology.chain(
    "waiting", Source("lines", payloads="lines.jsonl"), parse,
    Operator("ask", ask, batches="arrow", schema="event_time timestamp, value string"), mark,
)
"""


def test_tasks_go_to_the_operator_that_waits(command, spark_kafka, tmp_path):
    """10 ms of waiting per row, 20 slots: six times the rows of one task each, and the other operators stay small."""
    (tmp_path / "job.py").write_text(JOB)
    (tmp_path / "lines.jsonl").write_text("".join(f"line {number}\n" for number in range(1000)))
    run = command(
        *("run", "job.py", "--master", "local[20]", "--kafka", spark_kafka.address, "--json", "out.json"),
        *("--quick", "--windows", "4", "--window", "1s", "--warm-up", "2s", "--latency", "5s", "--budget", "100s"),
    )
    assert run.ended() == 0, run.err
    document = json.loads((tmp_path / "out.json").read_text())
    jsonschema.validate(document, PROFILE.read())
    tasks = document["best"]["tasks"]
    assert document["initial"]["tasks"] == {"lines": 1, "parse": 1, "ask": 1, "mark": 1}
    assert document["gain"] >= 6
    assert tasks["ask"] >= 8
    assert tasks["ask"] > 2 * (tasks["lines"] + tasks["parse"] + tasks["mark"])
    assert "answer, not confirmed yet: lines" in run.err
    assert "left]" in run.err
    assert document["settings"]["spark"]["spark.python.udf.pipelined.enabled"] == "true"
