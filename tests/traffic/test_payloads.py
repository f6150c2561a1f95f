"""Workload files: what is a message, and what is said of a file that holds none."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiler.errors import UsageError
from profiler.traffic.generator.payloads import MAX_MESSAGE_BYTES, Message, format_line, parse_line, read_payloads

TEXT = st.text(st.characters(codec="utf-8"))
HEADERS = st.dictionaries(TEXT, st.none() | st.binary()).map(lambda each: list(each.items()))
MESSAGES = st.builds(Message, value=st.binary(), key=st.none() | st.binary(), headers=st.none() | HEADERS)


def written(folder: Path, *lines: bytes, name: str = "workload.jsonl") -> Path:
    path = folder / name
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def test_plain_lines_are_values_byte_for_byte(tmp_path: Path) -> None:
    """JSON or not, with other keys or half an envelope: the line is the value."""
    lines = [
        b'{"text": "hallo"}',
        b"not json",
        b'{"value": "no key"}',
        b'{"key": "k", "value": "v", "more": 1}',
        b"\xff",
    ]
    payloads = read_payloads(written(tmp_path, *lines))
    assert payloads.messages == [Message(line) for line in lines]
    assert not payloads.keyed


def test_an_envelope_carries_key_and_headers(tmp_path: Path) -> None:
    """An object with exactly the keys of an envelope is unpacked."""
    lines = [
        b'{"key": "de", "value": "{\\"n\\": 1}", "headers": {"trace": "7", "none": null}}',
        b'{"value":"w","key":null}',
    ]
    payloads = read_payloads(written(tmp_path, *lines))
    assert payloads.messages == [
        Message(b'{"n": 1}', b"de", [("trace", b"7"), ("none", None)]),
        Message(b"w"),
    ]
    assert payloads.keyed


def test_a_broken_envelope_is_a_value() -> None:
    """Half a JSON object is not an envelope, so it is the value itself."""
    assert parse_line(b'{"key": "k", "value": ', where="Line 1") == Message(b'{"key": "k", "value": ')


@settings(deadline=None)
@given(MESSAGES)
def test_any_message_survives_a_line(message: Message) -> None:
    """Whatever bytes a topic holds can be captured into a file and replayed."""
    assert parse_line(format_line(message), where="Line 1") == message


def test_gzip_is_known_by_its_content(tmp_path: Path) -> None:
    """The name of a file does not matter."""
    path = tmp_path / "workload"
    path.write_bytes(gzip.compress(b"a\nb\n"))
    assert read_payloads(path).messages == [Message(b"a"), Message(b"b")]


def test_blank_lines_and_line_ends_are_no_part_of_a_message(tmp_path: Path) -> None:
    """Windows line ends and empty lines do no harm."""
    path = tmp_path / "workload.jsonl"
    path.write_bytes(b"a\r\n\n\r\nb")
    assert read_payloads(path).messages == [Message(b"a"), Message(b"b")]


@pytest.mark.parametrize("content", [b"", b"\n\n", gzip.compress(b"", mtime=0)], ids=["empty", "blank", "gzip"])
def test_a_file_without_messages_is_refused(tmp_path: Path, content: bytes) -> None:
    """There is nothing to replay."""
    path = tmp_path / "empty.jsonl"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="holds no message"):
        read_payloads(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """The sentence names the path."""
    with pytest.raises(UsageError, match=r"nothing\.jsonl does not exist"):
        read_payloads(tmp_path / "nothing.jsonl")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    """Reading a folder is no crash."""
    with pytest.raises(UsageError, match="cannot be read"):
        read_payloads(tmp_path)


@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: data[:12] + b"\x07" * 20])
def test_a_damaged_gzip_file_is_refused(tmp_path: Path, damage: object) -> None:
    """A download that was cut off, or turned bad, is not replayed in part."""
    path = tmp_path / "cut.gz"
    path.write_bytes(damage(gzip.compress(b"a line\n" * 1000)))  # type: ignore[operator]
    with pytest.raises(UsageError, match="damaged gzip"):
        read_payloads(path)


@pytest.mark.parametrize(
    ("envelope", "key"),
    [
        (b'{"key": "k", "value": 1}', "value"),
        (b'{"key": "k", "value": null}', "value"),
        (b'{"key": 7, "value": "v"}', "key"),
        (b'{"key": "k", "value": "v", "headers": ["a"]}', "headers"),
        (b'{"key": "k", "value": "v", "headers": {"a": 1}}', "headers"),
    ],
)
def test_a_malformed_envelope_is_named_by_its_line(tmp_path: Path, envelope: bytes, key: str) -> None:
    """The sentence says which line and which key."""
    with pytest.raises(UsageError, match=rf"Line 2 of .* an envelope whose {key} is not"):
        read_payloads(written(tmp_path, b"fine", envelope))


def test_a_message_that_no_broker_takes_is_refused(tmp_path: Path) -> None:
    """It is found before the stream starts, not in the middle of it."""
    with pytest.raises(UsageError, match=r"Line 1 of .* longer than"):
        read_payloads(written(tmp_path, b"x" * (MAX_MESSAGE_BYTES + 1)))
    with pytest.raises(UsageError, match=r"Line 1 of .* longer than"):
        read_payloads(written(tmp_path, format_line(Message(b"x" * MAX_MESSAGE_BYTES, b"k"))))


def test_a_file_beyond_the_memory_limit_is_refused(tmp_path: Path) -> None:
    """The sentence says how many lines can be kept."""
    path = written(tmp_path, *[b"x" * 1_000] * 3_000)
    with pytest.raises(UsageError, match=r"more than 1 MB .* line 912 .*head -n 911"):
        read_payloads(path, max_bytes=1024 * 1024)
