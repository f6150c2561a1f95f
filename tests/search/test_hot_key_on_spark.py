"""A job with half of its rows on one key, the user's own data and a settings override, with the real parts."""

from __future__ import annotations

import json
import random

import jsonschema
import pytest

from profiler.questions.schemas import PROFILE
from profiler.questions.search.document import rounds_of
from profiler.questions.search.readings.hot_key import tasks_worth_having

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.mongo]

JOB = """
import time
from pyspark.sql import functions as F
from profiler import Operator, Source, Topology

def parse(rows):
    return rows.select("event_time", F.get_json_object("value", "$.user").alias("user"))

def ask(batches):
    for batch in batches:
        time.sleep(0.002 * batch.num_rows)
        yield batch

def count(rows):
    counted = rows.groupBy("user").agg(F.count("*").alias("n"), F.last("event_time").alias("event_time"))
    # After the aggregation, so that it is the keyed tasks that work.
    numbers = F.sequence(F.lit(1), F.lit(4000))
    return counted.withColumn("w", F.aggregate(numbers, F.col("n"), lambda total, each: (total + each) % 7919))

topology = Topology.chain(
    "hot", Source("lines", payloads="tweets"), parse,
    Operator("ask", ask, batches="arrow", schema="event_time timestamp, user string"),
    Operator("count", count, stateful=True, key="user", output="proportional"),
)
"""


def test_a_hot_key_is_told_instead_of_being_given_tasks(command, spark_kafka, tmp_path):
    """Half of the rows are of one user, who is counted and named; the keyed operator gets no tasks beyond that."""
    (tmp_path / "job.py").write_text(JOB)
    names = ["ann" if number % 2 else f"u{number}" for number in range(4000)]
    random.Random(1).shuffle(names)
    (tmp_path / "users.jsonl").write_text("".join(json.dumps({"user": name}) + "\n" for name in names))
    run = command(
        *("run", "job.py", "--payloads", "users.jsonl", "--master", "local[24]", "--json", "out.json"),
        *("--kafka", spark_kafka.address),
        *("--conf", "spark.sql.execution.arrow.maxRecordsPerBatch=16", "--prefill", "1000"),
        *("--quick", "--windows", "3", "--window", "2s", "--warm-up", "2s", "--latency", "5s", "--budget", "100s"),
    )
    assert run.ended() == 0, run.err
    document = json.loads((tmp_path / "out.json").read_text())
    jsonschema.validate(document, PROFILE.read())
    assert "4,000 messages of users.jsonl" in run.err
    counted = rounds_of(document)[0].measurement.operators["count"]
    assert (counted.hot_key, counted.hot_key_share) == ("ann", pytest.approx(0.5, abs=0.05))
    worth_having = tasks_worth_having(counted.hot_key_share)
    assert worth_having in (4, 5), "no policy gives more: tests/search/test_hot_key.py"
    assert all(seen["tasks"]["count"] <= worth_having for seen in document["rounds"])
    (told,) = document["warnings"]
    assert "'count': the value 'ann' of 'user' has about" in told
    assert document["features"]["operators"]["ask"]["class"] == "sojourn"
    assert document["features"]["operators"]["count"]["class"] is None
    assert document["best"]["state_rows"]["count"] >= 1000
    assert document["settings"]["spark"]["spark.sql.execution.arrow.maxRecordsPerBatch"] == "16"
    shown = " ".join(run.out.split())
    assert "sojourn-bound: ask (" in shown
    assert "1,000 keys were loaded first" in shown
