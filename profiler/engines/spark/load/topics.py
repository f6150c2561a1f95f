"""Kafka topics of a deployment: made, looked at, deleted; every answer in bounded time."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from profiler.errors import ProfileError

ANSWER_WITHIN_S = 10.0
MADE_WITHIN_S = 30.0
Offsets = dict[str, dict[int, int]]
"""Topic → partition → offset."""

_POLL_S = 0.03
_NOT_YET = (
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_PARTITION,  # noqa: SLF001 - the client's spelling of its own error codes
    KafkaError._UNKNOWN_TOPIC,  # noqa: SLF001
)
_QUIET: dict[str, Any] = {"log_level": 0, "error_cb": lambda _: None}
"""Settings that keep the client from writing every lost connection to standard error."""
_KEPT_BYTES = 256 * 2**20
"""Bytes that are kept per partition. Rows that nobody has read yet must fit in, too: the throttle lets about a second
of them lie there."""
_SEGMENT_BYTES = 32 * 2**20


class Topics:
    """A client for one broker."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._admin = AdminClient({"bootstrap.servers": address, **_QUIET})
        self._consumer = Consumer({"bootstrap.servers": address, "group.id": "profile", **_QUIET})
        self._asking = threading.Lock()
        """A lock, as a consumer answers one question at a time and deployments side by side ask at once."""

    def create(self, partitions: Mapping[str, int], *, stamped_on_arrival: frozenset[str] = frozenset()) -> None:
        """Make topics and wait until they are there; the time of `stamped_on_arrival` is when the broker got a row."""
        wanted = [
            NewTopic(
                name,
                count,
                1,
                config={
                    "message.timestamp.type": "LogAppendTime" if name in stamped_on_arrival else "CreateTime",
                    # Nobody reads results twice: long runs must not fill the disk.
                    "segment.bytes": str(_SEGMENT_BYTES),
                    "retention.bytes": str(_KEPT_BYTES),
                },
            )
            for name, count in partitions.items()
        ]
        try:
            for future in self._admin.create_topics(wanted, request_timeout=ANSWER_WITHIN_S).values():
                future.result(ANSWER_WITHIN_S)
        except (KafkaException, TimeoutError) as error:
            raise self._no_answer("make topics", error) from error
        self.end_offsets(partitions)

    def delete(self, names: list[str]) -> None:
        """Delete topics, as far as the broker still answers."""
        if not names:
            return
        with contextlib.suppress(KafkaException, TimeoutError):
            for future in self._admin.delete_topics(names, request_timeout=ANSWER_WITHIN_S).values():
                with contextlib.suppress(KafkaException, TimeoutError):
                    future.result(ANSWER_WITHIN_S)

    def end_offsets(self, partitions: Mapping[str, int]) -> Offsets:
        """Ask where each partition ends."""
        with self._asking:
            return {
                name: {number: self._end_offset(TopicPartition(name, number)) for number in range(count)}
                for name, count in partitions.items()
            }

    def _end_offset(self, partition: TopicPartition) -> int:
        deadline = time.monotonic() + MADE_WITHIN_S
        while True:
            try:
                return int(self._consumer.get_watermark_offsets(partition, timeout=ANSWER_WITHIN_S)[1])
            except KafkaException as error:
                # A topic that was made a moment ago may have no leader yet.
                if error.args[0].code() not in _NOT_YET or time.monotonic() > deadline:
                    raise self._no_answer("tell its offsets", error) from error
            time.sleep(_POLL_S)
            # The client believes for long that there is no such topic, unless it is made to ask again.
            with contextlib.suppress(KafkaException):
                self._consumer.list_topics(partition.topic, timeout=ANSWER_WITHIN_S)

    def close(self) -> None:
        """End the client."""
        self._consumer.close()

    def _no_answer(self, what: str, error: Exception) -> ProfileError:
        reason = error.args[0].str() if isinstance(error, KafkaException) else f"no answer in {ANSWER_WITHIN_S:.0f} s"
        return ProfileError(
            f"Kafka at {self.address} did not {what}: {reason}.",
            hint="Check that the broker runs and has space left on its disk.",
        )


def rows_between(before: Mapping[int, int], after: Mapping[int, int]) -> int:
    """Count the rows between two positions in a topic; what only one of them knows counts from zero."""
    return sum(end - before.get(partition, 0) for partition, end in after.items())
