"""Read a topic of a real broker for `profiler.traffic.capture`: assigned, in no group, every answer in bounded time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from profiler.errors import ProfileError, UsageError

ANSWER_WITHIN_S = 10.0
_AT_ONCE = 2000
_WAIT_S = 0.5


class KafkaReader:
    """Reads a topic of a broker, outside of any group."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._consumer = Consumer(
            {
                "bootstrap.servers": address,
                "group.id": "profile-capture",  # never joined: partitions are assigned
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "log_level": 0,
                "error_cb": lambda _: None,
            }
        )

    def bounds(self, topic: str) -> dict[int, tuple[int, int]]:
        """Ask for the offsets of all partitions."""
        try:
            known = self._consumer.list_topics(topic, timeout=ANSWER_WITHIN_S).topics.get(topic)
            if known is None or known.error is not None or not known.partitions:
                raise UsageError(
                    f"Kafka at {self._address} has no topic '{topic}'.",
                    hint="Check its name, and that you may read it.",
                )
            found = {
                number: self._consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=ANSWER_WITHIN_S)
                for number in known.partitions
            }
        except KafkaException as error:
            raise self._failed(f"did not tell the offsets of '{topic}': {error.args[0].str()}") from error
        if None in found.values():
            raise self._failed(f"did not tell the offsets of '{topic}' within {ANSWER_WITHIN_S:.0f} s")
        return found

    def read(self, topic: str, starts: Mapping[int, int]) -> None:
        """Assign the partitions."""
        self._consumer.assign([TopicPartition(topic, partition, start) for partition, start in starts.items()])

    def messages(self) -> list[Any]:
        """Poll; the end of a partition comes as a message with an error, other errors are raised."""
        messages = self._consumer.consume(_AT_ONCE, timeout=_WAIT_S)
        for message in messages:
            error = message.error()
            if error is not None and error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 - the client's spelling
                raise self._failed(f"failed while it was read: {error.str()}")
        return list(messages)

    def close(self) -> None:
        """Leave."""
        self._consumer.close()

    def _failed(self, what: str) -> ProfileError:
        return ProfileError(
            f"Kafka at {self._address} {what}.", hint="Check that the broker runs and that the topic may be read."
        )
