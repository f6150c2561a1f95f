"""Word count without any instrumentation: what a decision window is compared with.

Topics, stages, tasks, settings and load are those of the engine's own deployment; what is missing is the mark on one
source row in 64, the side topic that such rows are routed to, the collector that reads it, and what is asked of Spark
and Kafka after every window. Rows and durations are those of Spark's own progress, the CPU time of the stages is
asked for when the last window is over.

Both must be under the same stress, for which the throttle has to know what has come out. Without sampled rows that is
read from outside: ten times a second the newest message of the output topic tells its event time.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import time
import uuid
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from functools import reduce

from confluent_kafka import Consumer, KafkaException, TopicPartition
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from profiler.engines.spark.jvm.stages import StageCosts
from profiler.engines.spark.layout.chains import Chain, QueryLayout, layout
from profiler.engines.spark.layout.executed_plan import check_stages
from profiler.engines.spark.layout.topic_names import Places, partitions_of, places_of
from profiler.engines.spark.load.throttle import FEWEST_SAMPLES, LOOK_S, Arrivals, Throttle, ThrottleThread
from profiler.engines.spark.load.topics import Offsets, Topics
from profiler.engines.spark.query import python_operator
from profiler.engines.spark.query.query import Builder, start
from profiler.engines.spark.query.rows import EVENT_TIME
from profiler.engines.spark.query.running_query import RunningQuery
from profiler.engines.spark.windows.assembly import Batch
from profiler.errors import ProfileError
from profiler.experiment.observation import Detail
from profiler.job.configuration import Configuration
from profiler.job.topology import Topology
from profiler.services.run_folder import cache_directory
from profiler.traffic.generator.process import GeneratorProcess
from profiler.traffic.generator.wire import Target
from profiler.traffic.payload_files import payload_file
from scripts.benches.warm_engine import WarmEngine

SAMPLE_EVERY = 64
"""Tells the throttle how gently to begin; the engine samples this thinly at such rates."""
LONGEST_BATCH_S = 120.0
_POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class PlainWindow:
    """One batch of an uninstrumented query."""

    rows: float
    duration_s: float
    cpu_s: float


def plain_windows(
    at: WarmEngine, topology: Topology, configuration: Configuration, rate_per_s: float, windows: int
) -> list[PlainWindow]:
    """Run the topology, which must be a single chain, without instrumentation, and give its first full windows."""
    deployed = layout(topology, configuration)
    (query,) = deployed.queries
    places = places_of(at.kafka_address, f"plain-{uuid.uuid4()}", deployed)
    partitions = partitions_of(configuration, deployed, places)
    targets = [
        Target(places.sources[source.name], str(payload_file(source, cache_directory()))) for source in topology.sources
    ]
    with ExitStack() as undo:
        topics = undo.enter_context(contextlib.closing(Topics(at.kafka_address)))
        topics.create({**partitions, places.output: 1})
        undo.callback(topics.delete, [*partitions, places.output])
        generator = undo.enter_context(GeneratorProcess(at.kafka_address, targets, log=at.run.logs / "plain.log"))
        starting = {topic: dict.fromkeys(range(count), 0) for topic, count in partitions.items()}
        running = undo.enter_context(_started(at, topology, query, places, starting))
        newest = undo.enter_context(contextlib.closing(NewestOutput(at.kafka_address, places.output)))
        throttle = Throttle(rate_per_s, SAMPLE_EVERY, at.throughput_per_s)
        throttle_thread = ThrottleThread(
            throttle, lambda rate: generator.set_rate(rate, abandon_owed=True), newest.arrivals
        )
        throttle_thread.start()
        try:
            batches = _batches(running, throttle, windows)
        finally:
            throttle_thread.stop()
        return [PlainWindow(batch.rows, batch.duration_s, cpu_s) for batch, cpu_s in _with_cpu(running, batches)]


class PlainBuilder(Builder):
    """Builds the queries of the engine, without the mark on sampled rows and their way to the side topic."""

    def _read(self, chain: Chain, starting: Offsets) -> DataFrame:
        streams = [
            self._messages(self.places.sources[name], starting).selectExpr(
                "cast(key as string) as key", "cast(value as string) as value", f"timestamp as {EVENT_TIME}"
            )
            for name in chain.sources
        ]
        return reduce(DataFrame.unionByName, streams)

    def _send(self, chain: Chain, stream: DataFrame) -> DataFrame:  # noqa: ARG002 - the interface
        nothing = F.lit(None).cast("string").alias("key")
        return stream.select(nothing, F.to_json(F.struct("*")).alias("value"), F.lit(self.places.output).alias("topic"))


class NewestOutput:
    """Looks at the newest message of an output topic: its event time tells how far the job has come."""

    def __init__(self, address: str, topic: str) -> None:
        self._topic = topic
        self._end = 0
        self._looks: deque[tuple[float, float]] = deque()
        """When the topic had grown, and the newest due time by then."""
        self._consumer = Consumer(
            {
                "bootstrap.servers": address,
                "group.id": "bench",
                "enable.auto.commit": False,
                "fetch.message.max.bytes": 1000,  # one message is wanted, and Kafka gives whole batches anyway
                "queued.min.messages": 1,
                "log_level": 0,
                "error_cb": lambda _: None,
            }
        )

    def arrivals(self) -> Arrivals:
        """Tell what has come out in the last moment, as the engine's collector does."""
        with contextlib.suppress(KafkaException):  # a dead broker is noticed where batches are waited for
            self._look()
        now_s = time.time()
        while len(self._looks) > 1 and self._looks[1][0] <= now_s - LOOK_S:
            self._looks.popleft()
        if not self._looks:
            return Arrivals()
        is_recent = self._looks[-1][0] > now_s - LOOK_S
        return Arrivals(FEWEST_SAMPLES if is_recent else 0, self._looks[-1][1], self._looks[0][1])

    def close(self) -> None:
        """End the client."""
        self._consumer.close()

    def _look(self) -> None:
        end = self._consumer.get_watermark_offsets(TopicPartition(self._topic, 0), timeout=1.0)[1]
        if end <= self._end:
            return
        self._consumer.assign([TopicPartition(self._topic, 0, end - 1)])
        messages = self._consumer.consume(1, timeout=1.0)
        self._consumer.unassign()
        if messages and messages[0].error() is None:
            self._end = end
            before_s = self._looks[-1][1] if self._looks else 0.0
            self._looks.append((time.time(), max(before_s, due_s(messages[0].value() or b""))))


def due_s(message: bytes) -> float:
    """Read when the row was due from an output message."""
    return datetime.fromisoformat(json.loads(message)[EVENT_TIME]).timestamp()


@contextlib.contextmanager
def _started(
    at: WarmEngine, topology: Topology, query: QueryLayout, places: Places, starting: Offsets
) -> Iterator[RunningQuery]:
    """Start the query in the engine's own session, with the settings of the engine's own deployments."""
    spark = SparkSession.active()
    shuffles = {"spark.sql.shuffle.partitions": str(query.shuffle_partitions)}
    for name, value in {**at.engine.platform.job_settings, **shuffles}.items():
        spark.conf.set(name, value)
    uses = spark.sparkContext.accumulator({}, python_operator.MergeUses())
    builder = PlainBuilder(spark, topology, places, {}, uses, Detail.LIGHT, SAMPLE_EVERY)
    checkpoint = at.run.data / places.output
    messages = builder.build(query, starting)
    running = RunningQuery(
        query,
        start(messages, query, places.address, places.output, checkpoint, at.engine.window_s),
        topology.operators,
        at.engine.log,
    )
    try:
        _wait_until_planned(running)
        yield running
    finally:
        running.stop()
        shutil.rmtree(checkpoint, ignore_errors=True)


def _wait_until_planned(running: RunningQuery) -> None:
    """Wait for the first batch, and see that its stages are those of the engine's own deployment."""
    while (executed := running.executed_plan()) is None:
        _require_active(running)
        time.sleep(_POLL_S)
    check_stages(running.layout, executed)


def _batches(running: RunningQuery, throttle: Throttle, windows: int) -> list[Batch]:
    """Wait for the batches that began under the full load."""
    number = running.next_batch()
    kept: list[Batch] = []
    while len(kept) < windows:
        batch = _finished(running, number)
        number += 1
        if throttle.counted_from_s is not None and batch.start_s >= throttle.counted_from_s:
            kept.append(batch)
    return kept


def _finished(running: RunningQuery, number: int) -> Batch:
    deadline = time.monotonic() + LONGEST_BATCH_S
    while (batch := running.finished_batch(number)) is None:
        _require_active(running)
        if time.monotonic() > deadline:
            raise ProfileError(f"Batch {number} of the uninstrumented query did not end within {LONGEST_BATCH_S:g} s.")
        time.sleep(_POLL_S)
    return batch


def _require_active(running: RunningQuery) -> None:
    if not running.is_active():
        raise running.why_it_ended()


def _with_cpu(running: RunningQuery, batches: list[Batch]) -> Iterator[tuple[Batch, float]]:
    """Add the CPU time of all stages, from Spark's REST interface."""
    context = SparkSession.active().sparkContext
    stages = StageCosts(f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}")
    for batch in batches:
        uses = stages.of_batch(running.run_id, batch.number, len(running.layout.stages))
        yield batch, sum(use.cpu_s for use in uses)
