"""DAGs that need more than one query: nothing is lost or doubled on the topics between them."""

from __future__ import annotations

import time
from collections import Counter

import pytest
import spark_operators as jobs
from feeding import Row, at_ms, rows_given
from messages import Message

from profiler import Operator, Source, Topology
from profiler.experiment.observation import Detail
from profiler.job.configuration import Configuration

pytestmark = [pytest.mark.spark, pytest.mark.kafka]


@pytest.fixture
def lines() -> list[Message]:
    now_ms = int(time.time()) * 1000
    return [
        Message(f'{{"text": "w{number % 11} x{number % 4}"}}', now_ms + number, f"k{number}") for number in range(400)
    ]


def words_of(messages: list[Message]) -> Counter[str]:
    return Counter(word for message in messages for word in message.value.split('"')[3].split())


@pytest.mark.exact
def test_two_stateful_operators_in_a_row(spark_engine, lines: list[Message]) -> None:
    """The second reads a topic through a task of its own; two sources are read as one stream before the first."""
    topology = Topology(
        "in-a-row",
        [Source("left"), Source("right")],
        [
            Operator("text", jobs.text, inputs=["left", "right"]),
            Operator("words", jobs.words, inputs=["text"]),
            Operator("count", jobs.count, inputs=["words"], stateful=True, key="word"),
            Operator("highest", jobs.highest, inputs=["count"], stateful=True, key="word"),
        ],
    )
    expected = words_of(lines)
    found = rows_given(
        spark_engine,
        topology,
        {"left": lines[:150], "right": lines[150:]},
        lambda rows: len(rows) >= expected.total(),
    )
    assert len(found) == expected.total()
    last = {row["word"]: row["n"] for row in sorted(found, key=lambda row: row["n"])}
    assert last == expected


@pytest.mark.exact
def test_a_source_and_an_operator_meet(spark_engine, lines: list[Message]) -> None:
    """A source that is read twice, once directly and once behind a Python operator that waits; state at the end."""
    rows = "key string, value string, event_time timestamp"
    topology = Topology(
        "short-cut",
        [Source("lines")],
        [
            Operator("wait", jobs.pass_on, inputs=["lines"], batches="pandas", schema=rows),
            Operator("text", jobs.text, inputs=["lines", "wait"]),
            Operator("words", jobs.words, inputs=["text"]),
            Operator("count", jobs.count, inputs=["words"], stateful=True, key="word"),
        ],
    )
    expected = Counter({word: 2 * count for word, count in words_of(lines).items()})

    def complete(found: list[Row]) -> bool:
        return len(found) >= expected.total()

    found = rows_given(spark_engine, topology, {"lines": lines}, complete)
    assert Counter((row["word"], row["n"]) for row in found) == Counter(
        (word, n) for word, count in expected.items() for n in range(1, count + 1)
    )
    assert {at_ms(row) for row in found} == {message.at_ms for message in lines}


def test_rows_behind_a_fan_out_are_spread_over_all_tasks(spark_engine) -> None:
    """Kafka's client would fill a batch of one partition first: one task would get all of these rows."""
    rows = "key string, value string, event_time timestamp"
    topology = Topology(
        "spread",
        [Source("lines")],
        [
            Operator("first", jobs.keep, inputs=["lines"]),
            Operator("second", jobs.pass_on, inputs=["lines"], batches="pandas", schema=rows),
        ],
    )
    tasks = Configuration.of({"lines": 1, "first": 2, "second": 3})
    deployment = spark_engine.deploy(topology, tasks, Detail.LIGHT)
    for _ in deployment.observe(200, 2):
        pass
    inboxes = {deployment.places.inboxes[name]: tasks[name] for name in ("first", "second")}
    offsets = spark_engine.shared.topics.end_offsets(inboxes)
    deployment.close()
    for topic, count in inboxes.items():
        received = offsets[topic].values()
        assert min(received) > 0.5 * sum(received) / count


def test_a_slow_branch_is_not_drowned_by_a_fast_one(spark_engine) -> None:
    """One branch passes rows on, the other takes 10 ms for each: what is sent follows the slow one.

    Were it not for that, its batches would take a minute each, and more with every one.
    """
    rows = "key string, value string, event_time timestamp"
    topology = Topology(
        "two-speeds",
        [Source("lines")],
        [
            Operator("fast", jobs.keep, inputs=["lines"]),
            Operator("slow", jobs.wait, inputs=["lines"], batches="arrow", schema=rows),
            Operator("meet", jobs.keep, inputs=["fast", "slow"]),
        ],
    )
    one_each = Configuration.of(dict.fromkeys(topology.names, 1))
    deployment = spark_engine.deploy(topology, one_each, Detail.LIGHT)
    seen = list(deployment.observe(3000, 6))
    deployment.close()
    assert max(window.duration_s for window in seen) < 5 * spark_engine.window_s
    assert 30 < seen[-1].throughput_per_s < 110
