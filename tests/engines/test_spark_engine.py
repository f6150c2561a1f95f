"""The Spark engine with real parts: stages, answers, waiting operators, DAGs and faults."""

from __future__ import annotations

import itertools
import json
import time
from collections import Counter

import pytest
import spark_operators as jobs
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from spark_parts import LINES

from profiler import Operator, Source, Topology
from profiler.engines.spark.layout.executed_plan import stage_tasks
from profiler.errors import ProfileError
from profiler.experiment.observation import Detail, end_to_end_latency, typical_latency
from profiler.job.configuration import Configuration

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

ROWS = "key string, value string, event_time timestamp"
READ_WITHIN_S = 60.0


def word_count() -> Topology:
    return Topology.chain(
        "word-count",
        Source("lines"),
        Operator("text", jobs.text),
        Operator("words", jobs.words),
        Operator("count", jobs.count, stateful=True, key="word"),
    )


def configuration(topology: Topology, *tasks: int) -> Configuration:
    return Configuration.of(dict(zip(topology.names, tasks, strict=True)))


def sent(deployment) -> int:
    """Tell how many messages the generator has sent, now that it offers nothing."""
    deployment.generator.next_report()
    return deployment.generator.next_report().sent


def results(deployment, wanted: int) -> list[dict]:
    """Read so many rows of the deployment's output, sampled ones included."""
    consumer = Consumer({"bootstrap.servers": deployment.places.address, "group.id": "test"})
    topics = (deployment.places.output, deployment.places.samples)
    consumer.assign([TopicPartition(topic, 0, 0) for topic in topics])
    found: list[dict] = []
    deadline = time.monotonic() + READ_WITHIN_S
    while len(found) < wanted and time.monotonic() < deadline:
        found += [json.loads(message.value()) for message in consumer.consume(5000, timeout=0.5)]
    found += [json.loads(message.value()) for message in consumer.consume(5000, timeout=0.5)]
    consumer.close()
    return found


@pytest.mark.exact
def test_every_operator_has_its_stage_and_the_counts_are_right(spark_engine):
    """With several tasks everywhere nothing is lost or doubled: the counts equal those of plain Python."""
    topology = word_count()
    deployment = spark_engine.deploy(topology, configuration(topology, 2, 2, 3, 4), Detail.FULL)
    (query,) = deployment.queries.running.values()
    assert [stage.tasks for stage in query.layout.stages] == [2, 2, 3, 4]
    assert stage_tasks(query.executed_plan()) == (2, 3, 4)
    *_, last = deployment.observe(1000, 3)
    messages = [LINES[number % len(LINES)] for number in range(sent(deployment))]
    expected = Counter(word for line in messages for word in json.loads(line)["text"].split())
    found = results(deployment, expected.total())
    deployment.close()
    assert len(found) == expected.total()
    counts: Counter[str] = Counter()
    for row in found:
        counts[row["word"]] = max(counts[row["word"]], row["n"])
    assert counts == expected
    assert last.operators["words"].rows_out == pytest.approx(3 * last.operators["words"].rows_in)
    assert last.operators["count"].rows_in == pytest.approx(last.operators["words"].rows_out)


def test_a_waiting_operator_scales_past_the_cores(spark_engine):
    """24 tasks that wait 10 ms a row do more than six times the work of one, though others use the cores too."""
    topology = Topology.chain("waiting", Source("lines"), Operator("wait", jobs.wait, batches="arrow", schema=ROWS))
    reached = {}
    for tasks, rate, windows in ((1, 130, 6), (24, 3000, 9)):
        deployment = spark_engine.deploy(topology, configuration(topology, 1, tasks), Detail.LIGHT)
        seen = list(deployment.observe(rate, windows))[-3:]
        deployment.close()
        reached[tasks] = sum(window.throughput_per_s for window in seen) / len(seen)
        busy = seen[-1].operators["wait"]
        assert busy.busy_s > 10 * busy.cpu_s, "waiting is busy, not CPU time"
        assert busy.busy_s <= 1.05 * tasks * seen[-1].duration_s
    assert 50 < reached[1] < 101
    assert reached[24] > 6 * reached[1]


@pytest.mark.exact
def test_a_fan_out_and_a_fan_in_run_as_chains(spark_engine):
    """A feeds B and C, both feed D: four queries, every row arrives by both ways, with its columns and its time."""
    topology = Topology(
        "diamond",
        [Source("lines")],
        [
            Operator("a", jobs.text, inputs=["lines"]),
            Operator("b", jobs.left, inputs=["a"]),
            Operator("c", jobs.right, inputs=["a"]),
            Operator("d", jobs.keep, inputs=["b", "c"]),
        ],
    )
    deployment = spark_engine.deploy(topology, configuration(topology, 2, 1, 2, 1, 2), Detail.FULL)
    assert len(deployment.queries.running) == 4
    seen = list(deployment.observe(500, 6))
    last = seen[-1]
    messages = sent(deployment)
    found = results(deployment, 2 * messages)
    deployment.close()
    assert Counter(row["side"] for row in found) == {"left": messages, "right": messages}
    texts = Counter(json.loads(LINES[number % len(LINES)])["text"] for number in range(messages))
    assert Counter(row["text"] for row in found) == {text: 2 * number for text, number in texts.items()}
    assert all(row["event_time"] for row in found)
    assert set(last.operators) == set(topology.names)
    assert 0 < last.processing_ms.p50 <= last.processing_ms.p99
    # Of the same rows, a message is due before it is read.
    assert typical_latency([last]).p50 == pytest.approx(last.processing_ms.p50, rel=0.02)
    followed = [each for each in seen if end_to_end_latency([each]) is not None]
    assert followed, "it is not told of a window in which the queue grew"
    assert all(typical_latency([each]).p50 < end_to_end_latency([each]).p50 for each in followed)


def test_latency_is_known_where_an_operator_drops_event_time(spark_engine):
    """It is measured up to that operator, which the deployment names."""
    topology = Topology.chain("lost", Source("lines"), Operator("strip", jobs.without_event_time))
    deployment = spark_engine.deploy(topology, configuration(topology, 1, 2), Detail.LIGHT)
    *_, last = deployment.observe(500, 3)
    deployment.close()
    assert deployment.latency_up_to == "strip"
    assert 0 < last.processing_ms.p50 <= last.processing_ms.p99


def test_today_s_job_has_no_stage_that_it_did_not_ask_for(spark_engine):
    """Fused as written: the source's tasks do everything up to the aggregation."""
    topology = word_count()
    deployment = spark_engine.deploy(topology, configuration(topology, 2, 3, 3, 2), Detail.LIGHT, fused=True)
    (query,) = deployment.queries.running.values()
    assert stage_tasks(query.executed_plan()) == (2,)
    deployment.close()


def test_an_undeclared_aggregation_is_refused(spark_engine):
    """What Spark does not run in the planned stages is told, instead of being measured wrongly."""
    topology = Topology.chain("undeclared", Source("lines"), Operator("text", jobs.text), jobs.words, jobs.count)
    with pytest.raises(ProfileError, match=r"stages of 1/1/1/2/1 tasks instead of 1/1/1/2") as refused:
        spark_engine.deploy(topology, configuration(topology, 1, 1, 1, 2), Detail.FULL)
    assert "stateful=True" in refused.value.hint


@pytest.mark.parametrize(
    ("operator", "line"),
    [
        (Operator("service", jobs.fail, batches="arrow", schema=ROWS), "yield batch.slice(0, len(batch) // 0)"),
        (Operator("share", jobs.divide_by_zero), '(F.lit(1) / (F.length("value")'),
    ],
    ids=["python", "sql"],
)
def test_a_failing_operator_is_named_with_the_user_s_line(spark_engine, operator, line):
    """The query dies; the message says which operator and which line of the user's file."""
    topology = Topology.chain("failing", Source("lines"), Operator("keep", jobs.keep), operator)
    deployment = spark_engine.deploy(topology, configuration(topology, 1, 2, 2), Detail.LIGHT)
    with pytest.raises(ProfileError, match=f"Operator '{operator.name}' failed") as failed:
        list(deployment.observe(200, 5))
    deployment.close()
    assert "spark_operators.py:" in failed.value.message
    assert line in failed.value.message


def test_an_operator_that_cannot_be_built_is_named_with_the_user_s_line(spark_engine, capfd):
    """Spark's analysis speaks before anything starts, and only in the error."""
    topology = Topology.chain("unbuilt", Source("lines"), Operator("pick", jobs.no_such_column))
    with pytest.raises(ProfileError, match=r"Operator 'pick' cannot be built: .*nothing.*spark_operators\.py:\d+"):
        spark_engine.deploy(topology, configuration(topology, 1, 1), Detail.LIGHT)
    assert capfd.readouterr() == ("", "")


@pytest.mark.exact
def test_a_deployment_leaves_no_topic_and_no_checkpoint(spark_engine, spark_run):
    """Closing deletes what was made for it; what Spark writes after that goes with the next deployment."""
    topology = word_count()
    first = spark_engine.deploy(topology, configuration(topology, 1, 1, 1, 1), Detail.LIGHT)
    first.close()
    known = AdminClient({"bootstrap.servers": first.places.address}).list_topics(timeout=10).topics
    assert not [name for name in known if spark_run.name in name]
    spark_engine.deploy(topology, configuration(topology, 1, 1, 1, 1), Detail.LIGHT).close()
    assert not first.queries.checkpoints.exists()


def test_every_deployment_has_a_producer_of_its_own(spark_engine):
    """Else rows that an ended query left unsent, to a topic that is gone, hold up the batches of the next."""
    topology = word_count()
    java = spark_engine.shared.session.spark.sparkContext._jvm
    for _ in range(2):
        deployment = spark_engine.deploy(topology, configuration(topology, 1, 1, 1, 1), Detail.LIGHT)
        list(deployment.observe(500, 1))
        names = [thread.getName() for thread in java.java.lang.Thread.getAllStackTraces().keySet()]
        deployment.close()
        assert f"kafka-producer-network-thread | {deployment.places.output}" in names


def test_spark_says_nothing_on_the_terminal(spark_engine, capfd):
    """Starting and stopping a query, with all its noise, writes to files only."""
    topology = word_count()
    deployment = spark_engine.deploy(topology, configuration(topology, 1, 1, 2, 1), Detail.LIGHT)
    list(itertools.islice(deployment.observe(500, 2), 1))
    deployment.close()
    assert capfd.readouterr() == ("", "")
    assert spark_engine.log.is_file()
