"""Topics for tests: made anew, and read back in full."""

from __future__ import annotations

import uuid

from confluent_kafka import Consumer, Message, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from profiler.services.kafka import Kafka


def created_topic(kafka: Kafka, partitions: int) -> str:
    name = f"topic-{uuid.uuid4()}"
    admin = AdminClient({"bootstrap.servers": kafka.address})
    admin.create_topics([NewTopic(name, partitions, 1)])[name].result()
    return name


def received(kafka: Kafka, topic: str) -> list[list[Message]]:
    """Read a topic from its beginning to its present end; one list for each partition, in its order."""
    consumer = Consumer({"bootstrap.servers": kafka.address, "group.id": "test", "enable.auto.commit": False})
    try:
        partitions = sorted(consumer.list_topics(topic, timeout=10).topics[topic].partitions)
        ends = [consumer.get_watermark_offsets(TopicPartition(topic, each), timeout=10)[1] for each in partitions]
        consumer.assign([TopicPartition(topic, each, 0) for each in partitions])
        found: list[list[Message]] = [[] for _ in partitions]
        while (missing := sum(ends) - sum(map(len, found))) > 0:
            # As many as there are, or the client would wait for more until its time is up.
            batch = consumer.consume(min(missing, 10_000), timeout=30)
            assert batch, "the topic ended early"
            for message in batch:
                assert message.error() is None
                found[message.partition()].append(message)
        return found
    finally:
        consumer.close()
