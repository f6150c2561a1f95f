"""Classes, state, prefill and hot keys with the real parts."""

from __future__ import annotations

import itertools
import json
import random
import time
from pathlib import Path

import pytest
import spark_operators as jobs

from profiler import Operator, Source, Topology
from profiler.engines.spark.engine import SparkEngine
from profiler.experiment.observation import Detail, summed_operators
from profiler.job.configuration import Configuration
from profiler.questions.search.readings.operator_class import OperatorClass, operator_class, time_parts

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

ROWS = "key string, value string, event_time timestamp"


def burn(batches):
    for batch in batches:
        until_s = time.thread_time() + 0.003 * batch.num_rows
        while time.thread_time() < until_s:
            pass
        yield batch


def keep(batches):
    yield from batches


def configuration(topology: Topology, *tasks: int) -> Configuration:
    return Configuration.of(dict(zip(topology.names, tasks, strict=True)))


@pytest.mark.parametrize(
    ("function", "rate", "wanted"),
    [(jobs.wait, 60, OperatorClass.SOJOURN), (burn, 150, OperatorClass.CPU), (keep, 2000, OperatorClass.IO)],
    ids=["waits", "works", "hands over"],
)
def test_the_class_of_a_python_operator_is_what_its_code_does(spark_engine, function, rate, wanted):
    """10 ms of sleep, 3 ms of work, nothing: told apart although other programs may use the cores."""
    topology = Topology.chain("classes", Source("lines"), Operator("op", function, batches="arrow", schema=ROWS))
    deployment = spark_engine.deploy(topology, configuration(topology, 1, 1), Detail.FULL)
    seen = summed_operators(list(deployment.observe(rate, 6))[-3:])["op"]
    deployment.close()
    parts = time_parts(seen)
    assert parts is not None
    assert operator_class(parts) is wanted, parts


def test_a_function_of_data_frames_has_no_class(spark_engine):
    topology = Topology.chain("unclassed", Source("lines"), Operator("text", jobs.text))
    deployment = spark_engine.deploy(topology, configuration(topology, 1, 1), Detail.FULL)
    *_, last = deployment.observe(500, 2)
    deployment.close()
    assert time_parts(last.operators["text"]) is None


def counted(name: str) -> Topology:
    return Topology.chain(name, Source("lines"), jobs.users, Operator("count", jobs.by_user, stateful=True, key="user"))


@pytest.fixture
def users(tmp_path: Path) -> Path:
    """4000 messages of 2001 users, one of whom wrote half of them."""
    path = tmp_path / "users.jsonl"
    names = ["ann" if number % 2 else f"u{number}" for number in range(4000)]
    random.Random(1).shuffle(names)
    path.write_text("".join(json.dumps({"user": name}) + "\n" for name in names))
    return path


def test_state_rows_are_those_of_the_keys_that_were_sent(spark_engine, users: Path, monkeypatch):
    """In every window, of the operator that keeps them, and of no other."""
    monkeypatch.setattr(spark_engine, "payload_file", lambda _: users)
    deployment = spark_engine.deploy(counted("state"), configuration(counted("state"), 1, 2, 2), Detail.LIGHT)
    seen = list(deployment.observe(3000, 6))
    deployment.close()
    rows = [window.operators["count"].state_rows for window in seen]
    assert rows == sorted(rows)
    assert rows[-1] == 2001
    assert seen[-1].operators["users"].state_rows is None


@pytest.mark.parametrize(("wanted", "least"), [(1500, 1500), (10_000, 2001)], ids=["enough", "too few in the data"])
def test_keys_are_loaded_before_the_first_window(
    spark_engine: SparkEngine, users: Path, monkeypatch, wanted: int, least: int
):
    """A small stream would bring a hundred in its first window; after a restart of the queries they are there again."""
    monkeypatch.setattr(spark_engine, "payload_file", lambda _: users)
    monkeypatch.setattr(spark_engine.shared, "prefill_keys", wanted)
    topology = counted(f"prefill-{wanted}")
    deployment = spark_engine.deploy(topology, configuration(topology, 1, 1, 2), Detail.LIGHT)
    (first,) = deployment.observe(100, 1)
    assert first.operators["count"].state_rows >= least
    deployment.readiness.restart()
    windows = list(deployment.observe(100, 2))
    deployment.close()
    assert windows[0].operators["count"].state_rows >= least
    throughput_per_s = sum(window.source_rows for window in windows) / sum(window.duration_s for window in windows)
    assert 40 < throughput_per_s < 130, "what was sent to fill the state is not measured"


def test_a_hot_key_is_named_and_its_share_is_seen_in_both_ways(spark_engine, users: Path, monkeypatch):
    """Counted with one task as rows come in, though none of that key comes out; with four the busiest betrays it."""
    monkeypatch.setattr(spark_engine, "payload_file", lambda _: users)
    topology = Topology.chain(
        "hot",
        Source("lines"),
        jobs.users,
        Operator("count", jobs.dear_by_user, stateful=True, key="user"),
        Operator("others", jobs.not_ann),
    )
    deployment = spark_engine.deploy(topology, configuration(topology, 1, 1, 1, 1), Detail.FULL)
    *_, alone = deployment.observe(4000, 4)
    deployment.close()
    assert alone.operators["count"].hot_key == "ann"
    assert alone.operators["count"].hot_key_share == pytest.approx(0.5, abs=0.08)
    deployment = spark_engine.deploy(topology, configuration(topology, 1, 1, 4, 1), Detail.LIGHT)
    windows = list(itertools.islice(deployment.observe(8000, 6), 6))[-3:]
    deployment.close()
    seen = summed_operators(windows)["count"]
    assert seen.hot_key is None, "keys are counted with full detail only"
    assert seen.busiest_task_s * seen.tasks / seen.busy_s > 1.5
