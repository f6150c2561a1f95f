"""What stands in for Spark, Kafka and the generator where only the decisions between them are looked at."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

from profiler import Operator, Source, Topology
from profiler.engines.spark.job_memory import JobMemory
from profiler.engines.spark.layout.chains import layout
from profiler.engines.spark.layout.placed_job import PlacedJob
from profiler.engines.spark.layout.topic_names import partitions_of, places_of
from profiler.engines.spark.load.throttle import LOOK_S, Arrivals
from profiler.experiment.observation import Detail
from profiler.job.configuration import Configuration

BRANCHES = Topology(
    "branches",
    [Source("lines")],
    [Operator("left", lambda rows: rows, inputs=["lines"]), Operator("right", lambda rows: rows, inputs=["lines"])],
)
"""A job of three queries: what the source's one gives is read by two others."""


def placed(topology: Topology = BRANCHES) -> PlacedJob:
    """Place a topology with one task each."""
    configuration = Configuration.of(dict.fromkeys(topology.names, 1))
    deployed = layout(topology, configuration)
    places = places_of("host:1", "t1", deployed)
    return PlacedJob(topology, deployed, places, partitions_of(configuration, deployed, places), Detail.LIGHT, False)


def shared_parts(**more: object) -> SimpleNamespace:
    """Stand in for what deployments share, of which only a few parts are asked."""
    memories: dict[str, JobMemory] = {}
    session = SimpleNamespace(
        spark=SimpleNamespace(sparkContext=SimpleNamespace(accumulator=lambda value, merge: None)),
        make_active=lambda: None,
        configure=lambda settings: None,
        rows_per_python_batch=1,
        log="spark.log",
    )
    parts = {
        "session": session,
        "kafka": SimpleNamespace(address="host:1", check=lambda: None),
        "topics": SimpleNamespace(end_offsets=lambda partitions: {name: {0: 7} for name in partitions}),
        "starting": threading.Lock(),
        "ended_checkpoints": [],
        "memory_of": lambda name: memories.setdefault(name, JobMemory()),
        "window_s": 1.0,
        "prefill_keys": 0,
    }
    return SimpleNamespace(**parts | more)


class SteadyProgress:
    """A job out of which so many sampled rows come in every moment."""

    lag_s = 0.0
    """How long every row takes."""

    def __init__(self, samples: int, telling: frozenset[str] | None = None) -> None:
        self.samples = samples
        self.telling = telling

    def arrivals(self) -> Arrivals:
        newest_due_s = time.time() - self.lag_s
        return Arrivals(self.samples, newest_due_s, newest_due_s - LOOK_S)
