"""The message generator: its top rate against Kafka's own producer benchmark, and how exactly it keeps a rate.

Both producers send the same 200-byte messages to the same broker, in turns whose order alternates, each to a topic of
its own. `kafka-producer-perf-test` reports its steady state after a million records; the generator is measured between
the same counts of acknowledged messages. It runs with the generator's batching (the fair comparison, which has the
goal) and with its own defaults. Rates are checked from outside, by the topic's end offset at two times. Every turn and
every rate is a result of its own, so that whoever keeps them goes on where it stopped.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from profiler.services.jars import JarSet, jar_paths
from profiler.services.java import find_java
from profiler.services.kafka import open_kafka
from profiler.services.run_folder import cache_directory, create_run_folder
from profiler.traffic.generator.process import GeneratorProcess
from profiler.traffic.generator.wire import GeneratorReport, Target
from scripts.benches.ratios import mean_ratio
from scripts.benches.rows import Row, row
from scripts.benches.warm_engine import AtNeed, note

REPETITIONS = 6
PARTITIONS = 4
MESSAGE_BYTES = 200
WARM_UP = 1_000_000
MEASURED = 3_000_000
NEEDED_BYTES = 8_000_000_000
RATES = (100, 1_000, 10_000, 100_000, 200_000)
WINDOWS = 5
WINDOW_S = 5.0
LIKE_OURS = ("acks=all", "linger.ms=5", "batch.size=1000000", "buffer.memory=134217728")
BEYOND_REACH_PER_S = 5_000_000.0
OURS = "the generator"
THEIRS = {
    "kafka-producer-perf-test, batching as ours": LIKE_OURS,
    "kafka-producer-perf-test, its defaults": (),
}
GOALS = (0.9, None)

Keep = Callable[[str, Callable[[], Any]], Any]
"""Returns the result of a key, computed where it is new."""


def rows(keep: Keep = lambda _, measured: measured()) -> Iterator[Row]:
    """Measure top rates in turns, then the error at each rate; what was kept is not measured again."""
    with AtNeed(opened_bench) as bench:
        yield from top_rate_rows(_top_rates(bench, keep))
        for rate in RATES:
            yield rate_error_row(rate, keep(f"rate {rate}", lambda rate=rate: bench.get().rate_errors(rate)))


def top_rate_rows(rates: Mapping[str, Sequence[float]]) -> Iterator[Row]:
    """Yield the ratios of top rates with their 95 % intervals, from the logs of the ratios of neighbouring turns."""
    quantity = f"top rate, {MESSAGE_BYTES}-byte messages"
    for name, goal in zip(THEIRS, GOALS, strict=True):
        middle, low, high = mean_ratio(rates[OURS], rates[name])
        yield row(quantity, middle, goal, against=name, n=len(rates[name]), low=low, high=high)
    for name, seen in rates.items():
        mean = float(np.mean(seen))
        yield row(f"top rate of {name}", mean, unit="/s", n=len(seen), low=min(seen), high=max(seen))


def rate_error_row(rate: int, errors: Sequence[float]) -> Row:
    """Build the row of the largest error of the windows at a rate; low and high are the smallest and the largest."""
    return row(
        f"rate error at {rate:,}/s, largest of the windows",
        max(errors),
        0.01,
        better="lower",
        against="the rate asked for",
        n=len(errors),
        low=min(errors),
        high=max(errors),
    )


def _top_rates(bench: AtNeed[_Bench], keep: Keep) -> dict[str, list[float]]:
    """Let the producers take their turns, every repetition in the other order."""
    names = [OURS, *THEIRS]
    rates: dict[str, list[float]] = {name: [] for name in names}
    for repetition in range(REPETITIONS):
        for name in names if repetition % 2 == 0 else reversed(names):
            rates[name].append(keep(f"turn {repetition}, {name}", lambda name=name: bench.get().top_rate(name)))
    return rates


@contextmanager
def opened_bench() -> Iterator[_Bench]:
    """Start a broker, and write the messages that both producers send."""
    with (
        tempfile.TemporaryDirectory() as folder,
        create_run_folder(Path(folder), needed_bytes=NEEDED_BYTES) as run,
        open_kafka(None, run, cache_directory()) as kafka,
    ):
        payloads = run.data / "payloads.txt"
        random = np.random.default_rng(1)
        lines = random.integers(ord("a"), ord("z") + 1, (50_000, MESSAGE_BYTES), dtype=np.uint8)
        payloads.write_bytes(b"\n".join(line.tobytes() for line in lines))
        yield _Bench(kafka.address, payloads, run.logs / "generator.log")


@dataclass(frozen=True, slots=True)
class _Bench:
    address: str
    payloads: Path
    log: Path

    def top_rate(self, name: str) -> float:
        """Measure one turn of a producer."""
        note(f"generator: a turn of {name}")
        return self._our_top_rate() if name == OURS else self._their_top_rate(THEIRS[name])

    def rate_errors(self, rate: int) -> list[float]:
        """Measure the error of every window at a rate."""
        note(f"generator: {rate:,}/s")
        with self._topic(1) as topic, self._generator(topic) as generator:
            generator.set_rate(rate)
            _until_acked(generator, rate // 2)
            return [abs(self._stored_per_s(topic) / rate - 1) for _ in range(WINDOWS)]

    def _our_top_rate(self) -> float:
        with self._topic(PARTITIONS) as topic, self._generator(topic) as generator:
            generator.set_rate(BEYOND_REACH_PER_S)
            first = _until_acked(generator, WARM_UP)
            last = _until_acked(generator, first.acked + MEASURED)
            return (last.acked - first.acked) / (last.time_s - first.time_s)

    def _their_top_rate(self, settings: tuple[str, ...]) -> float:
        cache = cache_directory()
        class_path = ":".join(map(str, jar_paths(JarSet.TOOLS, cache)))
        with self._topic(PARTITIONS) as topic:
            command = [str(find_java().executable), "-Xmx1g", "-cp", class_path]
            command += ["org.apache.kafka.tools.ProducerPerformance", "--topic", topic, "--throughput", "-1"]
            command += ["--payload-file", str(self.payloads), "--warmup-records", str(WARM_UP)]
            command += ["--num-records", str(WARM_UP + MEASURED), "--bootstrap-server", self.address]
            command += ["--command-property", *settings] if settings else []
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = re.search(r"steady state records sent, ([0-9.]+) records/sec", done.stdout)
        if found is None:
            raise RuntimeError(f"the producer benchmark reported no steady state: {done.stdout[-500:]}")
        return float(found[1])

    def _stored_per_s(self, topic: str) -> float:
        """Watch the end of the topic's only partition for one window."""
        consumer = Consumer({"bootstrap.servers": self.address, "group.id": "bench"})
        try:
            counts, times = [], []
            for pause_s in (WINDOW_S, 0.0):
                counts.append(consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=10)[1])
                times.append(time.monotonic())
                time.sleep(pause_s)
        finally:
            consumer.close()
        return (counts[1] - counts[0]) / (times[1] - times[0])

    def _generator(self, topic: str) -> GeneratorProcess:
        return GeneratorProcess(self.address, [Target(topic, str(self.payloads))], log=self.log)

    @contextmanager
    def _topic(self, partitions: int) -> Iterator[str]:
        """Make a topic and remove it again: what is measured later must not find a full disk."""
        admin, name = AdminClient({"bootstrap.servers": self.address, "log_level": 0}), f"bench-{uuid.uuid4()}"
        admin.create_topics([NewTopic(name, partitions, 1)])[name].result()
        try:
            yield name
        finally:
            admin.delete_topics([name])[name].result()


def _until_acked(generator: GeneratorProcess, count: int) -> GeneratorReport:
    while (report := generator.next_report()).acked < count:
        pass
    return report
