"""Send what is due into Kafka: one client, any number of topics, every message stamped with the time it was due.

The intended send time travels as the message's own timestamp (CreateTime, in milliseconds). It costs eight bytes that
every message has anyway, needs no parsing, leaves key, value and headers to the job, and arrives in Spark as the
column `timestamp`. A topic with `message.timestamp.type=LogAppendTime` would overwrite it.

What makes it fast (scripts/benches/results/generator.md): positional arguments to `produce` (`produce_batch` is no
faster and refuses timestamps), no callback for what went well (`delivery.report.only.error`; acknowledged = given −
failed − still in the client), and runs of neighbours that share partition and millisecond. Batches are bounded by
`linger.ms`, so a message waits a few milliseconds at low rates; at high rates they fill up first. The client is
idempotent: a broken connection costs a retry, and neither doubles, loses nor reorders a message within a partition.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from confluent_kafka import KafkaError, KafkaException, Producer

from profiler.errors import ProfileError
from profiler.traffic.generator.pacing import Burst, Pacer
from profiler.traffic.generator.payloads import MAX_MESSAGE_BYTES, Payloads, read_payloads
from profiler.traffic.generator.wire import GeneratorReport, SetRate, Target

CHUNK = 2_000
"""Messages between two looks at clock and commands: about 2 ms at full speed."""
CONNECT_S = 10.0
SILENCE_S = 10.0
"""Seconds without any acknowledgement, while messages wait, after which the broker is taken for dead."""
_LONGEST_LOOK_S = 1.0
BY_KEY = -1
"""The partition number by which the client chooses by key itself."""

_CLIENT = {
    "linger.ms": 5,
    "batch.size": 1_000_000,
    "batch.num.messages": 100_000,
    # A quarter of a second at full speed: a longer queue would only hide for longer that the broker is too slow.
    "queue.buffering.max.messages": 200_000,
    "queue.buffering.max.kbytes": 131_072,
    "enable.idempotence": True,
    "message.timeout.ms": 30_000,
    "message.max.bytes": MAX_MESSAGE_BYTES + 10_000,  # with what the protocol adds; brokers take 1 048 588 by default
    "partitioner": "murmur2_random",  # the Java client's, so that keys meet the partitions they meet in production
    "delivery.report.only.error": True,
    "reconnect.backoff.max.ms": 500,
}


class _Stream:
    """One topic: its messages in a loop, its pacing, and the partitions they are spread over."""

    def __init__(self, target: Target, share: float, payloads: Payloads, start_s: float) -> None:
        self.topic = target.topic
        self.share = share
        self.pacer = Pacer(start_s)
        self._messages = payloads.messages
        self._keyed = payloads.keyed
        self._position = 0
        self._sent_to: list[int] = []

    def spread_over(self, partitions: int) -> None:
        """Say how many partitions the topic has."""
        self._sent_to = [0] * partitions

    def send(self, producer: Producer, burst: Burst, to_epoch_s: float) -> int:
        """Give the messages to the client's queue until it is full; tell how many it took."""
        sent = 0
        for millisecond, count in burst.runs(to_epoch_s):
            # The partition that had the least: turns alone would favour some where runs of 1 and 2 alternate.
            partition = BY_KEY if self._keyed else self._sent_to.index(min(self._sent_to))
            taken = self._send_run(producer, partition, millisecond, count)
            if not self._keyed:
                self._sent_to[partition] += taken
            sent += taken
            if taken < count:
                break
        return sent

    def _send_run(self, producer: Producer, partition: int, millisecond: int, count: int) -> int:
        produce, topic = producer.produce, self.topic
        messages = self._messages[self._position : self._position + count]
        while len(messages) < count:
            messages += self._messages[: count - len(messages)]
        taken = 0
        try:
            for value, key, headers in messages:
                produce(topic, value, key, partition, None, None, millisecond, headers)
                taken += 1
        except BufferError:
            pass  # the queue is full: what is left stays due
        self._position = (self._position + taken) % len(self._messages)
        return taken


class PacedProducer:
    """Keeps a rate over several topics; the caller gives it the time and calls it often."""

    def __init__(self, address: str, targets: Sequence[Target], start_s: float, to_epoch_s: float) -> None:
        """Read the workload files and connect; `to_epoch_s` is what a time on the caller's clock lacks to the epoch."""
        whole = sum(target.share for target in targets)
        files = {path: read_payloads(Path(path)) for path in {target.payloads for target in targets}}
        self._streams = [_Stream(target, target.share / whole, files[target.payloads], start_s) for target in targets]
        self._address = address
        self._to_epoch_s = to_epoch_s
        self._sent = self._acked = self._failed = self._abandoned = self._queue_full = 0
        self._last_error = ""
        self._silence_s = 0.0
        self._looked_s = start_s
        settings = {**_CLIENT, "bootstrap.servers": address, "error_cb": self._on_error}
        self._producer = Producer({**settings, "on_delivery": self._on_failed_delivery})
        for stream in self._streams:
            stream.spread_over(self._partitions(stream.topic))

    def apply(self, change: SetRate, now_s: float) -> None:
        """Change the rate from now on."""
        for stream in self._streams:
            if change.abandon:
                self._abandoned += stream.pacer.abandon(now_s)
            stream.pacer.set_rate(change.rate * stream.share, now_s)
            if change.seconds is not None:
                stream.pacer.set_rate(0.0, now_s + change.seconds)

    def send_due(self, now_s: float) -> bool:
        """Send what is due, at most one chunk for each topic; tell whether the client had room for it.

        Raises where the broker has been silent for too long.
        """
        had_room = True
        for stream in self._streams:
            burst = stream.pacer.due(now_s, CHUNK)
            if burst is None:
                continue
            try:
                sent = stream.send(self._producer, burst, self._to_epoch_s)
            except KafkaException as error:
                raise ProfileError(
                    f"Kafka at {self._address} takes no more messages for topic '{stream.topic}': {_reason(error)}.",
                    hint="Check that the topic still exists.",
                ) from None
            stream.pacer.take(sent)
            self._sent += sent
            if sent < burst.count:
                self._queue_full += 1
                had_room = False
        self._producer.poll(0)
        self._require_progress(now_s)
        return had_room

    def next_s(self) -> float:
        """Tell when the next message is or was due; infinity where none is planned."""
        return min(stream.pacer.next_s() for stream in self._streams)

    def report(self, now_s: float) -> GeneratorReport:
        """Tell what was done so far."""
        pacers = [stream.pacer for stream in self._streams]
        return GeneratorReport(
            time_s=now_s + self._to_epoch_s,
            rate_per_s=sum(pacer.rate_per_s(now_s) for pacer in pacers),
            offered=sum(pacer.offered(now_s) for pacer in pacers),
            sent=self._sent,
            acked=self._acked,
            abandoned=self._abandoned,
            errors=self._failed,
            behind_s=max(pacer.behind_s(now_s) for pacer in pacers),
            queue_full=self._queue_full,
            cpu_s=time.process_time(),
        )

    def finish(self, now_s: float, timeout_s: float) -> None:
        """Offer nothing more and wait for what is on its way; what is not there in time is given up as an error."""
        self.apply(SetRate(0.0, abandon=True), now_s)
        self._producer.flush(timeout_s)
        self.close()
        self._acked = self._sent - self._failed

    def close(self) -> None:
        """Give up what is in the client, so that it ends at once even where the broker is gone."""
        self._producer.purge()
        self._producer.flush(1.0)

    def _require_progress(self, now_s: float) -> None:
        waiting = len(self._producer)
        acked = max(self._acked, self._sent - self._failed - waiting)
        # A long time between two looks is this process's own pause, not the broker's silence.
        self._silence_s += min(now_s - self._looked_s, _LONGEST_LOOK_S)
        self._looked_s = now_s
        if acked > self._acked or waiting == 0:
            self._silence_s = 0.0
        self._acked = acked
        if self._silence_s > SILENCE_S:
            raise ProfileError(
                f"Kafka at {self._address} has acknowledged nothing for {SILENCE_S:.0f} s: {self._why_silent()}.",
                hint="Check that the broker runs and has space left, and that nobody deletes its topics.",
            )

    def _why_silent(self) -> str:
        try:
            topics = self._producer.list_topics(timeout=2.0).topics
        except KafkaException:
            return f"it does not answer{self._last_error}"
        gone = [stream.topic for stream in self._streams if stream.topic not in topics]
        return f"topic '{gone[0]}' is gone" if gone else f"it answers, but takes nothing{self._last_error}"

    def _on_failed_delivery(self, error: KafkaError | None, _message: object) -> None:
        if error is not None:
            self._failed += 1
            self._on_error(error)

    def _on_error(self, error: KafkaError) -> None:
        self._last_error = f": {error.str()}"

    def _partitions(self, topic: str) -> int:
        """Ask for the topic's partitions; wait a little for a topic that was made a moment ago."""
        deadline = time.monotonic() + CONNECT_S
        while True:
            try:
                known = self._producer.list_topics(timeout=CONNECT_S).topics.get(topic)
            except KafkaException as error:
                raise ProfileError(
                    f"Kafka at {self._address} does not answer: {_reason(error)}{self._last_error}.",
                    hint="Check the address, and that the broker runs.",
                ) from None
            if known is not None and known.error is None and known.partitions:
                return len(known.partitions)
            if time.monotonic() > deadline:
                raise ProfileError(
                    f"Kafka at {self._address} has no topic '{topic}'.", hint="Create it, or correct its name."
                )
            self._producer.poll(0.05)


def _reason(error: KafkaException) -> str:
    return str(error.args[0].str())
