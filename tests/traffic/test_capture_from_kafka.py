"""`profile capture` from a real broker: what was sent is what the file holds, and the topic stays as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from topics import received
from typer.testing import CliRunner

from profiler.cli.app import app
from profiler.services.kafka import Kafka
from profiler.traffic.generator.payloads import Message, read_payloads

pytestmark = pytest.mark.kafka


def sent(broker: Kafka, topic: str, messages: list[Message]) -> None:
    """Send messages in turn to two partitions, each a millisecond after the one before."""
    producer = Producer({"bootstrap.servers": broker.address})
    for number, (value, key, headers) in enumerate(messages):
        producer.produce(topic, value, key, partition=number % 2, timestamp=1_700_000_000_000 + number, headers=headers)
    assert producer.flush(30) == 0


def test_the_newest_messages_survive_the_way_into_a_file(
    broker: Kafka, create_topic: Callable[[int], str], tmp_path: Path
) -> None:
    """Keys, headers and bytes that are no text; the order is that of their times; no group is left behind."""
    topic = create_topic(3)
    messages = [
        Message(b"\xff%d" % number, b"k%d" % (number % 5), [("trace", b"\xfe"), ("none", None)] if number % 2 else None)
        for number in range(1000)
    ]
    sent(broker, topic, messages)
    path = tmp_path / "sample.jsonl.gz"
    answer = CliRunner().invoke(
        app, ["capture", topic, "--kafka", broker.address, "--messages", "400", "--out", str(path)]
    )
    assert answer.exit_code == 0, answer.stderr
    assert "Wrote 400 messages to" in " ".join(answer.stdout.split())
    assert read_payloads(path).messages == messages[-400:]
    assert sum(map(len, received(broker, topic))) == 1000
    groups = AdminClient({"bootstrap.servers": broker.address}).list_consumer_groups().result()
    assert "profile-capture" not in {group.group_id for group in groups.valid}


def test_a_topic_with_fewer_messages_gives_what_it_has(
    broker: Kafka, create_topic: Callable[[int], str], tmp_path: Path
) -> None:
    """And says so; a message without a value is left out."""
    topic = create_topic(2)
    sent(broker, topic, [Message(b"a", b"k"), Message(None, b"k"), Message(b"b")])  # type: ignore[arg-type]
    path = tmp_path / "few.jsonl"
    answer = CliRunner().invoke(app, ["capture", topic, "--kafka", broker.address, "--out", str(path)])
    assert answer.exit_code == 0, answer.stderr
    assert "Left out: 1 message without a value." in answer.stderr
    assert "fewer than the 10,000" in answer.stderr
    assert read_payloads(path).messages == [Message(b"a", b"k"), Message(b"b")]


def test_a_topic_that_is_not_there_is_told(broker: Kafka, tmp_path: Path) -> None:
    path = tmp_path / "nothing.jsonl"
    answer = CliRunner().invoke(app, ["capture", "no-such-topic", "--kafka", broker.address, "--out", str(path)])
    assert answer.exit_code == 2
    assert "has no topic 'no-such-topic'" in answer.stderr
    assert not path.exists()
