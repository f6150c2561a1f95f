"""`profile capture`: what is taken from a topic, and what of it a workload file can hold."""

from __future__ import annotations

import gzip
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from profiler.errors import ProfileError, UsageError
from profiler.traffic import capture
from profiler.traffic.capture import TopicSample, sample_topic, write_sample
from profiler.traffic.generator.payloads import MAX_MESSAGE_BYTES, Message, read_payloads


@dataclass
class Raw:
    """A message as the Kafka client gives it; without a value of its own it tells the end of a partition."""

    place: tuple[int, int]
    content: bytes | None = b"v"
    name: bytes | None = None
    at_ms: int = 0
    pairs: list[tuple[str, bytes | None]] | None = None
    end: bool = False

    def partition(self) -> int:
        return self.place[0]

    def offset(self) -> int:
        return self.place[1]

    def value(self) -> bytes | None:
        return self.content

    def key(self) -> bytes | None:
        return self.name

    def headers(self) -> list[tuple[str, bytes | None]] | None:
        return self.pairs

    def timestamp(self) -> tuple[int, int]:
        return 1, self.at_ms

    def error(self) -> object:
        return "end of partition" if self.end else None


@dataclass
class Topic:
    """A topic of the test's own."""

    offsets: dict[int, tuple[int, int]]
    coming: list[list[Raw]]
    starts: dict[int, int] = field(default_factory=dict)

    def bounds(self, topic: str) -> dict[int, tuple[int, int]]:
        return self.offsets

    def read(self, topic: str, starts: Mapping[int, int]) -> None:
        self.starts = dict(starts)

    def messages(self) -> list[Raw]:
        return self.coming.pop(0) if self.coming else []

    def close(self) -> None:
        pass


def filled(offsets: dict[int, tuple[int, int]]) -> Topic:
    """A topic with a message at every offset, all of which come, and more after the end."""
    raws = [
        Raw((partition, offset), f"{partition}:{offset}".encode(), at_ms=10 * offset + partition)
        for partition, (first, end) in offsets.items()
        for offset in range(first, end + 2)
    ]
    topic = Topic(offsets, [])
    genuine = topic.read

    def read(name: str, starts: Mapping[int, int]) -> None:
        genuine(name, starts)
        topic.coming = [[raw for raw in raws if raw.offset() >= starts.get(raw.partition(), 10**9)]]

    topic.read = read  # type: ignore[method-assign]
    return topic


def test_the_newest_are_taken_from_every_partition_in_proportion():
    """A partition with three times the messages is three times as often in the sample; nothing beyond the end is."""
    topic = filled({0: (100, 400), 1: (0, 100), 2: (7, 7)})
    sample = sample_topic(topic, "clicks", 40)
    assert topic.starts == {0: 370, 1: 90}
    values = {message.value.decode() for message in sample.messages}
    assert values == {f"0:{offset}" for offset in range(370, 400)} | {f"1:{offset}" for offset in range(90, 100)}


def test_they_are_in_the_order_of_their_times():
    sample = sample_topic(filled({0: (0, 3), 1: (0, 3)}), "clicks", 6)
    assert [message.value.decode() for message in sample.messages] == ["0:0", "1:0", "0:1", "1:1", "0:2", "1:2"]


@pytest.mark.parametrize(("wanted", "taken"), [(1, 1), (5, 5), (7, 7), (100, 9)])
def test_as_many_as_wanted_or_as_there_are(wanted, taken):
    """Rounding over three partitions neither loses nor adds any."""
    assert len(sample_topic(filled({0: (0, 3), 1: (0, 3), 2: (0, 3)}), "clicks", wanted).messages) == taken


def test_gaps_at_the_end_of_a_partition_do_not_keep_it_waiting():
    """Markers of transactions are no messages: the partition's end is told instead."""
    topic = Topic({0: (0, 3)}, [[Raw((0, 0)), Raw((0, 1))], [], [Raw((0, 3), end=True)]])
    assert len(sample_topic(topic, "clicks", 3).messages) == 2


def test_key_and_headers_come_along():
    """Bytes that are no text too; of two headers with one name the last is kept."""
    raw = Raw((0, 0), b"\xff", b"k\xfe", pairs=[("trace", b"1"), ("trace", b"2"), ("none", None)])
    sample = sample_topic(Topic({0: (0, 1)}, [[raw]]), "clicks", 1)
    assert sample.messages == (Message(b"\xff", b"k\xfe", [("trace", b"2"), ("none", None)]),)


def test_what_cannot_be_replayed_is_left_out_and_counted():
    raws = [Raw((0, 0), None), Raw((0, 1), b"x" * (MAX_MESSAGE_BYTES + 1)), Raw((0, 2))]
    sample = sample_topic(Topic({0: (0, 3)}, [raws]), "clicks", 3)
    assert (len(sample.messages), sample.without_value, sample.too_large) == (1, 1, 1)


def test_more_than_a_workload_file_may_hold_is_refused(monkeypatch):
    monkeypatch.setattr(capture, "MAX_BYTES", 100)
    with pytest.raises(UsageError, match="Take fewer: --messages"):
        sample_topic(filled({0: (0, 50)}), "clicks", 50)


def test_a_broker_that_falls_silent_is_told(monkeypatch):
    monkeypatch.setattr(capture, "SILENCE_S", 0.0)
    with pytest.raises(ProfileError, match="gave no message of 'clicks'"):
        sample_topic(Topic({0: (0, 5)}, [[Raw((0, 0))]]), "clicks", 5)


@pytest.mark.parametrize("name", ["sample.jsonl", "sample.jsonl.gz"])
def test_the_file_is_a_workload_file_for_its_owner_only(tmp_path: Path, name: str):
    messages = (Message(b'{"key": 1}', b"k", [("h", b"\xff")]), Message(b"\xfe"), Message(b"line\nline"))
    path = tmp_path / name
    write_sample(TopicSample(messages), path)
    assert read_payloads(path).messages == list(messages)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")
    assert [each.name for each in tmp_path.iterdir()] == [name], "nothing half-written is left"
    if name.endswith(".gz"):
        assert gzip.decompress(path.read_bytes()).count(b"\n") == 3


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path):
    with pytest.raises(ProfileError, match="can't be written"):
        write_sample(TopicSample((Message(b"a"),)), tmp_path / "missing" / "a.jsonl")
