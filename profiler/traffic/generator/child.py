"""The generating process: obeys its standard input, reports on its standard output, and ends when either closes.

One thread: the wait for the next due message is a wait for a command too, so a new rate holds at once. A steady
clock paces; its distance to the epoch is taken once, at the start, so that a step of the system's clock neither
stops the stream nor floods the topic.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import sys
import time
import traceback

from profiler.errors import ProfileError
from profiler.traffic.generator import wire
from profiler.traffic.generator.producer import PacedProducer

TICK_S = 0.002
"""Shortest sleep: at most 500 wake-ups a second, for which a message may be sent that much later than due."""
FLUSH_S = 5.0
"""Seconds that the end waits for messages that are on their way."""


class ParentGone(Exception):  # noqa: N818 - reads as what happened
    """The pipe from the parent is closed."""


class CommandPipe:
    """Lines that arrive at a file descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = b""

    def lines(self, wait_s: float | None) -> list[str]:
        """Wait (None: for ever) and give the whole lines that have arrived; raise where the pipe was closed."""
        readable, _, _ = select.select([self._descriptor], [], [], wait_s)
        if not readable:
            return []
        data = os.read(self._descriptor, 65_536)
        if not data:
            raise ParentGone
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [line.decode() for line in lines]


def main() -> int:
    """Generate until told to stop; return the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: the parent decides what it means
    try:
        return _run(CommandPipe(sys.stdin.fileno()))
    except (ParentGone, BrokenPipeError):
        return ProfileError.exit_code
    except ProfileError as error:
        _say(wire.Failure(error.message, error.hint, error.exit_code))
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent must be told
        traceback.print_exc()
        _say(wire.Failure(f"The generator ended by {error!r}.", "Its log tells more.", ProfileError.exit_code))
        return ProfileError.exit_code


def _run(commands: CommandPipe) -> int:
    received: list[str] = []
    while not received:
        received = commands.lines(wait_s=None)
    setup = wire.read_setup(received.pop(0))
    start_s = time.monotonic()
    producer = PacedProducer(setup.address, setup.targets, start_s, to_epoch_s=time.time() - start_s)
    gc.freeze()  # the messages stay as long as the process: looking through them again would only cause pauses
    try:
        return _generate(producer, commands, received)
    finally:
        producer.close()


def _generate(producer: PacedProducer, commands: CommandPipe, received: list[str]) -> int:
    report_s = time.monotonic()  # the first report says that everything is ready
    while True:
        now_s = time.monotonic()
        keeps_up = producer.send_due(now_s)  # first, so that nothing is owed but what could not be sent
        for line in received:
            command = wire.read_command(line)
            if isinstance(command, wire.Stop):
                producer.finish(now_s, FLUSH_S)
                _say(producer.report(time.monotonic()))
                return 0
            producer.apply(command, now_s)
        if now_s >= report_s:
            _say(producer.report(now_s))
            report_s = now_s + wire.REPORT_S
        next_s = min(producer.next_s(), report_s) - time.monotonic()
        # At once where messages are owed, unless the client's queue has no room for them.
        received = commands.lines(0.0 if keeps_up and next_s <= 0 else max(next_s, TICK_S))


def _say(message: wire.FromChild) -> None:
    data = wire.to_line(message).encode()
    while data:
        data = data[os.write(sys.stdout.fileno(), data) :]
