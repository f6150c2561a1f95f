"""Sample a real topic into a workload file: its newest messages with keys and headers, in the order of their times.

Nothing of the topic is changed: no group is joined, no offset is stored. Of every partition the newest messages are
taken, in proportion to how many it holds, so that a hot partition is as hot in the sample. What is taken ends where the
topic ended when the capture began, so it ends in bounded time however fast the topic grows.

A workload file cannot hold everything that a topic can. Left out, and counted, are messages without a value (which
delete a key in a compacted topic) and those larger than the generator may send; of several headers with the same name
the last is kept.
"""

from __future__ import annotations

import contextlib
import gzip
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, cast

from profiler.errors import ProfileError, UsageError
from profiler.services.whole_file import written_whole
from profiler.traffic.generator.payloads import MAX_BYTES, MAX_MESSAGE_BYTES, Message, format_line

SILENCE_S = 20.0
"""Seconds without any message, while some are missing, after which the broker is taken for dead."""


class TopicReader(Protocol):
    """What is needed of a Kafka client; the real one is `profiler.traffic.topic_reader`."""

    def bounds(self, topic: str) -> dict[int, tuple[int, int]]:
        """Return the first and the next offset of every partition; raise UsageError where there is no such topic."""

    def read(self, topic: str, starts: Mapping[int, int]) -> None:
        """Begin to read the partitions from these offsets on."""

    def messages(self) -> list[Any]:
        """Return messages as they come, none after a moment without any; each as confluent-kafka's `Message`."""

    def close(self) -> None:
        """Leave."""


@dataclass(frozen=True, slots=True)
class TopicSample:
    """What was taken from a topic."""

    messages: tuple[Message, ...]
    without_value: int = 0
    too_large: int = 0


def sample_topic(reader: TopicReader, topic: str, wanted: int) -> TopicSample:
    """Read the newest messages of a topic, so many at the most."""
    bounds = reader.bounds(topic)
    starts = _starts(bounds, wanted)
    taken: list[tuple[int, int, int, Message]] = []
    size = without_value = too_large = 0
    reader.read(topic, starts)
    for raw in _until(reader, topic, {partition: bounds[partition][1] for partition in starts}):
        message = _message(raw)
        if message is None:
            without_value += 1
        elif _size(message) > MAX_MESSAGE_BYTES:
            too_large += 1
        else:
            size += len(format_line(message))
            if size > MAX_BYTES:
                raise UsageError(
                    f"The newest {wanted:,} messages of '{topic}' are more than the {MAX_BYTES // 2**20} MB that a "
                    "workload file may hold.",
                    hint=f"Take fewer: --messages {max(1, len(taken) // 2)}.",
                )
            taken.append((raw.timestamp()[1], raw.partition(), raw.offset(), message))
    taken.sort(key=lambda each: each[:3])
    return TopicSample(tuple(message for *_, message in taken), without_value, too_large)


def write_sample(sample: TopicSample, path: Path) -> None:
    """Write a workload file, with gzip where its name ends in .gz; it appears when complete, for its owner only."""
    try:
        # Messages of a real topic may be nobody else's business.
        with written_whole(path, private=True) as raw, _packed(raw, packed=path.suffix == ".gz") as file:
            for message in sample.messages:
                file.write(format_line(message) + b"\n")
    except OSError as error:
        raise ProfileError(f"{path} can't be written: {error.strerror}.", hint="Name another place.") from error


@contextlib.contextmanager
def _packed(raw: IO[bytes], *, packed: bool) -> Iterator[IO[bytes]]:
    if not packed:
        yield raw
        return
    with gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as file:
        yield cast("IO[bytes]", file)


def _starts(bounds: Mapping[int, tuple[int, int]], wanted: int) -> dict[int, int]:
    """Choose where to begin in every partition that holds something: the newest, in proportion to what it holds."""
    held = {partition: end - first for partition, (first, end) in bounds.items() if end > first}
    total = sum(held.values())
    part = min(1.0, wanted / total) if total else 0.0
    parts = {partition: int(count * part) for partition, count in held.items()}
    # What rounding left over goes to the largest rests; a few partitions get one message more.
    rest = min(wanted, total) - sum(parts.values())
    for partition in sorted(held, key=lambda each: (parts[each] - held[each] * part, each))[:rest]:
        parts[partition] += 1
    return {partition: bounds[partition][1] - count for partition, count in parts.items() if count}


def _until(reader: TopicReader, topic: str, ends: dict[int, int]) -> Iterator[Any]:
    """Yield messages until every partition has been read to its end.

    Offsets may have gaps (markers of transactions, compaction), so the end of a partition counts as well as its last
    message.
    """
    silent_since_s = time.monotonic()
    while ends:
        batch = reader.messages()
        now_s = time.monotonic()
        if batch:
            silent_since_s = now_s
        elif now_s - silent_since_s > SILENCE_S:
            raise ProfileError(
                f"Kafka gave no message of '{topic}' for {SILENCE_S:.0f} s, and some are missing.",
                hint="Check that the broker runs and that the topic may be read.",
            )
        for raw in batch:
            end = ends.get(raw.partition())
            if end is None:
                continue
            if raw.error() is None and raw.offset() < end:
                yield raw
            if raw.error() is not None or raw.offset() >= end - 1:
                ends.pop(raw.partition(), None)


def _size(message: Message) -> int:
    headers = sum(len(name.encode()) + len(value or b"") for name, value in message.headers or ())
    return len(message.value) + len(message.key or b"") + headers


def _message(raw: Any) -> Message | None:
    """Turn a client's message into one of a workload file; None where it has no value."""
    value = raw.value()
    if value is None:
        return None
    headers = raw.headers()
    return Message(value, raw.key(), None if headers is None else list(dict(headers).items()))
