"""Settings that trade throughput for latency on Spark: how long a row waits for company between two stages.

`spark.shuffle.streaming.networkBufferMaxWaitTimeMs` is the longest time for which a writer of the streaming shuffle
holds a buffer that is not full. Every task reads it anew from the configuration of its process, at the start of every
batch; a user's session passes it to executors when it starts, but in a local session it can be changed between two
deployments, so that its values take turns and share the machine's ups and downs.

A block is one deployment: under stress, at 1,000 rows/s, and at 90 % of what it did under stress. The values take
turns, each turn in the other order. Latencies are those of all rows of all blocks together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from profiler.engines.opening import prepared_engine
from profiler.engines.spark.engine import SparkEngine
from profiler.engines.spark.kind import SEVERAL_QUERIES
from profiler.experiment.latency_probe import PROBE_LOAD
from profiler.experiment.measure import STRESS, Load
from profiler.experiment.observation import Detail, Latency, Observation
from profiler.experiment.warmth import Warmth
from profiler.experiment.window_plan import WindowPlan
from profiler.job.configuration import Configuration
from profiler.job.loading import load_topology
from profiler.job.topology import Topology
from profiler.settings.declarations import Settings
from scripts.benches.ratios import mean_ratio
from scripts.benches.rows import Row, row
from scripts.benches.saved import Saved
from scripts.benches.warm_engine import AtNeed, note

MEASURED = (
    "profiler/engines/spark",
    "profiler/experiment",
    "workloads/word_count.py",
    "workloads/star.py",
    "scripts/benches/levers.py",
)
"""Code whose change makes earlier results stale."""
WAIT = "spark.shuffle.streaming.networkBufferMaxWaitTimeMs"
WAITS_MS = (50, 25, 10)
"""Spark's own value first, which the others are compared with."""
SMALL_PER_S = 1000.0
WARM_UP = WindowPlan(windows=2, warm_up=6, probe=0)


@dataclass(frozen=True, slots=True)
class Job:
    """A workload with the tasks and windows that it is measured with."""

    name: str
    tasks: dict[str, int]
    window_s: float
    windows: int
    """Windows of a block under stress that count."""
    calm: int
    """Windows of a block at each of the two rates."""

    @property
    def topology(self) -> Topology:
        """The workload."""
        return load_topology(self.name)

    @property
    def configuration(self) -> Configuration:
        """The tasks as a configuration."""
        return Configuration.of(self.tasks)


JOBS = (
    Job("star", {"left": 1, "right": 1, "hub": 1, "store": 1, "publish": 1}, SEVERAL_QUERIES.window_s, 3, 2),
    Job("word-count", {"tweets": 1, "parse": 2, "split": 2, "count": 4}, 3.0, 4, 3),
)


TURNS = 3
COLD = 1
"""Windows of a block under stress that do not count."""


def rows() -> Iterator[Row]:
    """Measure what is not saved yet, and yield every figure."""
    saved = Saved("levers", *MEASURED)
    with AtNeed(_warm) as warm:
        turns = [{job.name: _turn(saved, warm, job, number) for job in JOBS} for number in range(TURNS)]
    for job in JOBS:
        yield from job_rows(job.name, [turn[job.name] for turn in turns])


def job_rows(name: str, turns: Sequence[dict[str, Any]]) -> Iterator[Row]:
    """Yield the figures of one job, whose turns hold a block per value."""
    usual = [turn[str(WAITS_MS[0])]["per_s"] for turn in turns]
    for wait_ms in WAITS_MS:
        blocks = [turn[str(wait_ms)] for turn in turns]
        label = f"{name}, {wait_ms} ms"
        per_s = [block["per_s"] for block in blocks]
        yield row(f"{label}: throughput at stress", float(np.mean(per_s)), unit="/s", n=len(blocks))
        if wait_ms != WAITS_MS[0]:
            middle, low, high = mean_ratio(per_s, usual)
            against = f"{WAITS_MS[0]} ms"
            yield row(f"{label}: throughput", middle, against=against, n=len(blocks), low=low, high=high)
        for load in ("small", "probe"):
            told = Latency.of_rows(text for block in blocks for text in block[load]["rows"])
            at = float(np.mean([block[load]["per_s"] for block in blocks]))
            for quantile, value in (("p50", told.p50), ("p95", told.p95), ("p99", told.p99)):
                quantity = f"{label}: {quantile} at {at:,.0f} rows/s"
                yield row(quantity, value, better="lower", unit="ms", n=len(blocks))


@contextmanager
def _warm() -> Iterator[SparkEngine]:
    """Open an engine and load it with all jobs until the compilers are done."""
    with (
        prepared_engine(JOBS[0].topology, Settings(), note, [job.topology for job in JOBS[1:]]) as opening,
        opening as engine,
    ):
        if not isinstance(engine, SparkEngine):
            raise AssertionError(engine.name)
        warmth = Warmth(engine)
        for job in JOBS:
            note(f"{job.name}: warming up")
            seen = warmth.loaded(job.name, job.topology, Load(job.configuration), WARM_UP)
            note(f"{job.name}: {seen.throughput_per_s:,.0f} rows/s")
        yield engine


def _turn(saved: Saved, warm: AtNeed[SparkEngine], job: Job, number: int) -> dict[str, Any]:
    order = WAITS_MS if number % 2 == 0 else WAITS_MS[::-1]
    seen = {}
    for wait_ms in order:
        note(f"{job.name}: turn {number + 1} of {TURNS}, {wait_ms} ms")
        key = f"{job.name} {number} {wait_ms}"
        seen[str(wait_ms)] = saved.get(key, partial(_at_need, warm, job, wait_ms))
    return seen


def _at_need(warm: AtNeed[SparkEngine], job: Job, wait_ms: int) -> dict[str, Any]:
    return _block(warm.get(), job, wait_ms)


def _block(engine: SparkEngine, job: Job, wait_ms: int) -> dict[str, Any]:
    engine.shared.session.spark.sparkContext._jsc.sc().conf().set(WAIT, str(wait_ms))  # noqa: SLF001
    capacity = engine.shared.memory_of(job.topology.name).capacity_per_s
    with closing(engine.deploy(job.topology, job.configuration, Detail.LIGHT, window_s=job.window_s)) as deployment:
        stressed = list(deployment.observe(2 * STRESS * capacity, COLD + job.windows))[COLD:]
        per_s = sum(each.source_rows for each in stressed) / sum(each.duration_s for each in stressed)
        small = list(deployment.observe(SMALL_PER_S, job.calm))
        probe = list(deployment.observe(PROBE_LOAD * per_s, job.calm))
    return {"per_s": per_s, "small": _told(small), "probe": _told(probe)}


def _told(windows: Sequence[Observation]) -> dict[str, Any]:
    return {
        "per_s": sum(each.source_rows for each in windows) / sum(each.duration_s for each in windows),
        "rows": [each.processing_rows for each in windows if each.processing_rows is not None],
        "end_to_end": [each.end_to_end_rows for each in windows if each.end_to_end_rows is not None],
    }
