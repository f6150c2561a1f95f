r"""The workload file that the generator replays: JSON lines, plain or gzip, told apart by their first bytes.

A line is one message:

- a JSON object with exactly the keys `key` and `value`, or `key`, `value` and `headers`, is an envelope: `value` is
  a string, `key` a string or null, `headers` an object of strings or nulls, e.g. `{"key": "de", "value": "hallo"}`;
- every other line is the value itself, byte for byte, without a key; blank lines are skipped.

Bytes that are not UTF-8 are written in an envelope as the surrogates U+DC80 … U+DCFF (`"\udcff"` is the byte FF,
Python's `surrogateescape`), so that a binary topic survives the way through a file. A value that looks like an
envelope itself must be put into one.

The whole file is held in memory as bytes, ready to be sent, so its size is limited.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from profiler.errors import UsageError

MAX_BYTES = 512 * 1024 * 1024
"""Memory the messages of one file may take."""
MAX_MESSAGE_BYTES = 1_000_000
"""Bytes of key, value and headers together; a broker with default settings takes a little more."""
_OBJECT_BYTES = 150
"""Memory of one message beside its bytes: the tuple, the object headers, the place in the list."""
_GZIP_MAGIC = b"\x1f\x8b"
_ENVELOPES = ({"key", "value"}, {"key", "value", "headers"})


Headers = list[tuple[str, str | bytes | None]]


class Message(NamedTuple):
    """One message in the order of the Kafka client's arguments; a tuple, as millions are unpacked a second."""

    value: bytes
    key: bytes | None = None
    headers: Headers | None = None


@dataclass(frozen=True, slots=True)
class Payloads:
    """The messages of one workload file, in its order."""

    messages: list[Message]
    keyed: bool
    """Whether some message has a key: partitions are then chosen by key, as the producers of such a topic do."""


def opened(path: Path) -> BufferedReader:
    """Open a workload file."""
    return path.open("rb")


def read_payloads(
    path: Path, *, max_bytes: int = MAX_BYTES, opened: Callable[[Path], BufferedReader] = opened
) -> Payloads:
    """Read a workload file; raise UsageError, naming the line, where it holds no replayable messages."""
    messages: list[Message] = []
    size = 0
    for number, line in _lines(path, opened):
        message = parse_line(line, where=f"Line {number} of {path}")
        size += len(line) + _OBJECT_BYTES
        if size > max_bytes:
            raise UsageError(
                f"{path} needs more than {max_bytes // 1024**2} MB of memory from line {number} on.",
                hint=f"Keep a part of it, which is replayed in a loop: head -n {number - 1}.",
            )
        messages.append(message)
    if not messages:
        raise UsageError(f"{path} holds no message.", hint="A workload file has one message per line.")
    return Payloads(messages, keyed=any(message.key is not None for message in messages))


def parse_line(line: bytes, *, where: str) -> Message:
    """Turn one line into a message; `where` begins the sentence of an error."""
    message = Message(line)
    # Parsing every line would take seconds; most are values, and an envelope cannot do without these words.
    if line.startswith(b"{") and b'"value"' in line and b'"key"' in line:
        try:
            content = json.loads(line)
        except ValueError:
            content = None
        if isinstance(content, dict) and content.keys() in _ENVELOPES:
            message = _unpack(content, where)
    if _size(message) > MAX_MESSAGE_BYTES:
        raise UsageError(
            f"{where} is longer than the {MAX_MESSAGE_BYTES} bytes that a message may have.",
            hint="Remove or shorten it.",
        )
    return message


def format_line(message: Message) -> bytes:
    """Write a message as the envelope that `parse_line` reads as the same message, without the line's end."""
    content: dict[str, Any] = {"key": _text(message.key), "value": _text(message.value)}
    if message.headers is not None:
        content["headers"] = {name: _text(value) for name, value in message.headers}
    return json.dumps(content).encode()


def _unpack(content: dict[str, Any], where: str) -> Message:
    value, key, headers = content["value"], content["key"], content.get("headers")
    if not isinstance(value, str):
        raise _malformed(where, "value", "a string", "JSON goes into it as text, a value of its own shape into a line.")
    if key is not None and not isinstance(key, str):
        raise _malformed(where, "key", "a string or null", "Write it as text.")
    if "headers" in content and not (
        isinstance(headers, dict) and all(each is None or isinstance(each, str) for each in headers.values())
    ):
        raise _malformed(where, "headers", "an object of strings or nulls", 'Write {"name": "text"}.')
    pairs: Headers | None = None if headers is None else [(name, _bytes(each)) for name, each in headers.items()]
    return Message(cast("bytes", _bytes(value)), _bytes(key), pairs)


def _size(message: Message) -> int:
    headers = sum(len(name.encode()) + len(value or b"") for name, value in message.headers or ())
    return len(message.value) + len(message.key or b"") + headers


def _malformed(where: str, key: str, wanted: str, hint: str) -> UsageError:
    return UsageError(f"{where} is an envelope whose {key} is not {wanted}.", hint=hint)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogateescape")


def _text(data: str | bytes | None) -> str | None:
    return data.decode("utf-8", "surrogateescape") if isinstance(data, bytes) else data


def _lines(path: Path, opened: Callable[[Path], BufferedReader]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, with their numbers; never hold more of a line than a message may have."""
    try:
        with opened(path) as raw:
            is_packed = raw.peek(len(_GZIP_MAGIC)).startswith(_GZIP_MAGIC)
            file = cast("IO[bytes]", gzip.GzipFile(fileobj=raw) if is_packed else raw)
            number = 0
            # An envelope may take six characters ("\udcff") for one byte; a longer line is cut, and then refused.
            while line := file.readline(8 * MAX_MESSAGE_BYTES):
                number += 1
                if line := line.rstrip(b"\r\n"):
                    yield number, line
    except FileNotFoundError:
        raise UsageError(f"The workload file {path} does not exist.", hint="Check its path.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise UsageError(f"{path} is a damaged gzip file.", hint="Make it again, or unpack what is left.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.", hint="Name a readable file.") from None
