"""Run a topology on real Spark over fixed messages, and read what it gives."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from messages import Message

from profiler.engines.spark.deployment import SparkDeployment
from profiler.engines.spark.engine import SparkEngine
from profiler.experiment.observation import Detail
from profiler.job.configuration import Configuration
from profiler.job.topology import Topology

Row = dict[str, Any]
GIVEN_WITHIN_S = 90.0
QUIET_S = 2.5
"""So long nothing more may come, longer than a window."""


def several_tasks(topology: Topology) -> Configuration:
    """Two and three tasks in turn; one where more are not allowed."""
    tasks = {element.name: 2 + number % 2 for number, element in enumerate(topology)}
    return Configuration.of({name: count if topology[name].parallel else 1 for name, count in tasks.items()})


def rows_given(
    engine: SparkEngine,
    topology: Topology,
    messages: Mapping[str, Sequence[Message]],
    complete: Callable[[list[Row]], bool],
) -> list[Row]:
    """Send the messages of every source and read rows until they are complete, and then whether more come."""
    deployment = engine.deploy(topology, several_tasks(topology), Detail.LIGHT)
    try:
        _send(deployment, several_tasks(topology), messages)
        return _read(deployment, complete)
    finally:
        deployment.close()


def at_ms(row: Row) -> int:
    """Give the event time of a row."""
    return round(datetime.fromisoformat(row["event_time"]).timestamp() * 1000)


def _send(deployment: SparkDeployment, tasks: Configuration, messages: Mapping[str, Sequence[Message]]) -> None:
    """Deal the messages to all partitions in turn, so that every task has some."""
    producer = Producer({"bootstrap.servers": deployment.places.address})
    for source, of_source in messages.items():
        for number, message in enumerate(of_source):
            producer.produce(
                deployment.places.sources[source],
                message.value,
                message.key,
                partition=number % tasks[source],
                timestamp=message.at_ms,
            )
    assert producer.flush(30) == 0


def _read(deployment: SparkDeployment, complete: Callable[[list[Row]], bool]) -> list[Row]:
    """Read both topics in which rows leave a topology: its own, and the one of sampled rows."""
    consumer = Consumer({"bootstrap.servers": deployment.places.address, "group.id": "test"})
    topics = (deployment.places.output, deployment.places.samples)
    consumer.assign([TopicPartition(topic, 0, 0) for topic in topics])
    rows: list[Row] = []
    now_s = time.monotonic()
    deadline_s, quiet_since_s = now_s + GIVEN_WITHIN_S, now_s
    try:
        while time.monotonic() < deadline_s:
            more = [json.loads(message.value()) for message in consumer.consume(5000, timeout=0.2)]
            rows += more
            quiet_since_s = time.monotonic() if more else quiet_since_s
            if time.monotonic() - quiet_since_s > QUIET_S and complete(rows):
                break
            deployment.queries.require_all_active()
    finally:
        consumer.close()
    return rows
