"""A thread that reads a side topic outside Spark, from its beginning until it is closed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

_AT_ONCE = 5000
_WAIT_S = 0.1


class SideTopicReader:
    """Hands over the messages of some partitions as they come."""

    def __init__(
        self, address: str, topic: str, partitions: Iterable[int], take: Callable[[Sequence[Message]], None]
    ) -> None:
        """Start to read; `take` is called in the reader's thread."""
        self._take = take
        self._ended = threading.Event()
        # By assignment: a group would wait seconds for its first one.
        self._consumer = Consumer(
            {
                "bootstrap.servers": address,
                "group.id": "profile",
                "enable.auto.commit": False,
                # Rows come in by fives and tens; to answer for each such batch costs the broker a tenth of a core.
                "fetch.min.bytes": 1_000_000,
                "fetch.wait.max.ms": 100,
                "log_level": 0,
                "error_cb": lambda _: None,
            }
        )
        self._consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
        self._thread = threading.Thread(target=self._read, name=f"profile-{topic}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop reading; calling it twice is fine."""
        if not self._ended.is_set():
            self._ended.set()
            self._thread.join()
            self._consumer.close()

    def _read(self) -> None:
        while not self._ended.is_set():
            try:
                messages = self._consumer.consume(_AT_ONCE, timeout=_WAIT_S)
            except KafkaException:
                continue  # the broker's death is noticed, and told, where offsets are asked for
            good = [message for message in messages if message.error() is None]
            if good:
                self._take(good)
