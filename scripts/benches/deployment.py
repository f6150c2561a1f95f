"""Where the time of a deployment goes: its parts, one by one, of word count and of a job with a Python worker per task.

A block, as a confirmation measures it: deployed, three windows under stress and one before them that does not count,
taken down. The methods that do the work are timed where they stand; what happens beside each other overlaps.
"""

from __future__ import annotations

import functools
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import Any

from profiler.engines.opening import opened_engine
from profiler.engines.spark.deployment import SparkDeployment
from profiler.engines.spark.load.readiness import Readiness
from profiler.engines.spark.load.topics import Topics
from profiler.engines.spark.query.queries import Queries
from profiler.engines.spark.windows.batches import BatchWatch
from profiler.engines.spark.windows.latency import SampleCollector
from profiler.experiment.comparing.blocks import BLOCK_PROBE_LOAD
from profiler.experiment.engine import Engine
from profiler.experiment.measure import STRESS
from profiler.experiment.observation import Detail
from profiler.job.configuration import Configuration
from profiler.job.loading import load_topology
from profiler.job.topology import Topology
from profiler.settings.declarations import Settings
from profiler.traffic.generator.process import GeneratorProcess
from scripts.benches import waiting_job
from scripts.benches.rows import Row, row
from scripts.benches.saved import Saved
from scripts.benches.warm_engine import note

MEASURED = ("profiler/engines/spark", "profiler/traffic/generator", "scripts/benches/deployment.py")
"""Code whose change makes earlier results stale."""
TIMED: Mapping[str, tuple[type, str]] = {
    "topics made": (Topics, "create"),
    "generator started": (GeneratorProcess, "start"),
    "queries started": (Queries, "start"),
    "plans looked at": (BatchWatch, "check_stages"),
    "ready for the rate": (Readiness, "make_ready"),
    "of that, approaching it": (Readiness, "_approach"),
    "of that, starting anew": (Readiness, "restart"),
    "of that, draining": (Readiness, "_drains"),
    "queries stopped": (Queries, "stop"),
    "collector closed": (SampleCollector, "close"),
    "generator stopped": (GeneratorProcess, "stop"),
    "topics deleted": (Topics, "delete"),
    "taking it down": (SparkDeployment, "close"),
}
"""Parts of a deployment, by the methods that do them."""
BARE = ("spark.python.daemon.module=pyspark.daemon",)
"""Settings with which Spark's own daemon forks the Python workers."""
BLOCKS = 2
"""Blocks of a job after the first one of a session, which is told apart."""
WINDOWS = 4


@dataclass(frozen=True, slots=True)
class Job:
    """A job of the bench, and what it takes."""

    topology: Topology
    configuration: Configuration
    expected_per_s: float
    conf: tuple[str, ...] = ()


_WAITS = Configuration.of({"in": 1, "look_up": 25})
JOBS = {
    "word count": Job(
        load_topology("word-count"), Configuration.of({"tweets": 1, "parse": 1, "split": 1, "count": 4}), 8_000.0
    ),
    "25 tasks that wait, bare workers": Job(waiting_job.topology, _WAITS, 2_800.0, BARE),
    "25 tasks that wait": Job(waiting_job.topology, _WAITS, 2_800.0),
}


@contextmanager
def timed(seconds: dict[str, float]) -> Iterator[None]:
    """Add up the seconds of every timed part while the context is open."""
    with ExitStack() as undone:
        for part, (owner, name) in TIMED.items():
            original = getattr(owner, name)
            undone.callback(setattr, owner, name, original)
            setattr(owner, name, _timed(original, part, seconds))
        yield


def _timed(method: Callable[..., Any], part: str, seconds: dict[str, float]) -> Callable[..., Any]:
    @functools.wraps(method)
    def run(*arguments: Any, **named: Any) -> Any:
        began_s = time.monotonic()
        try:
            return method(*arguments, **named)
        finally:
            seconds[part] += time.monotonic() - began_s

    return run


def block(engine: Engine, job: Job) -> dict[str, float]:
    """Measure one block, and tell the seconds of its parts."""
    seconds: dict[str, float] = defaultdict(float)
    began_s = time.monotonic()
    with timed(seconds):
        with closing(engine.deploy(job.topology, job.configuration, Detail.LIGHT)) as deployment:
            deployed_s = time.monotonic()
            seconds["deploying it"] = deployed_s - began_s
            before_s, throughputs = deployed_s, []
            for index, window in enumerate(deployment.observe(STRESS * job.expected_per_s, WINDOWS), start=1):
                now_s = time.monotonic()
                seconds[f"to window {index}"] = now_s - before_s
                seconds[f"window {index} itself"] = window.duration_s
                throughputs.append(window.throughput_per_s)
                before_s = now_s
            (probe,) = deployment.observe(BLOCK_PROBE_LOAD * job.expected_per_s, 1)
            seconds["to the probe's window"] = time.monotonic() - before_s
        seconds["whole block"] = time.monotonic() - began_s
    latency = probe.processing_ms
    note(" ".join(f"{value:,.0f}" for value in throughputs) + f" rows/s, probe p50 {latency.p50:,.0f} ms")
    note("  ".join(f"{part} {value:.2f}" for part, value in seconds.items()))
    figures = {f"window {index} per s": value for index, value in enumerate(throughputs, start=1)}
    return {**seconds, **figures, "probe's p50 in ms": latency.p50, "probe's p95 in ms": latency.p95}


def rows() -> Iterator[Row]:
    """Measure what is not saved yet, and yield every part."""
    saved = Saved("deployment", *MEASURED)
    for name, job in JOBS.items():
        keys = [f"{name} {number}" for number in range(BLOCKS + 1)]
        if not all(key in saved.known for key in keys):
            with _opened(job) as engine:
                for key in keys:
                    saved.get(key, functools.partial(block, engine, job))
        yield from part_rows(name, [saved.known[key] for key in keys])


def part_rows(name: str, blocks: Sequence[Mapping[str, float]]) -> Iterator[Row]:
    """Tell the parts of all blocks but the first, and the first one's whole."""
    first, *later = blocks
    for part in ("whole block", "to window 1"):
        yield row(f"{name}: {part}, the first of a session", first[part], unit="s", better="lower", n=1)
    for part in later[0]:
        values = [each.get(part, 0.0) for each in later]
        unit = "ms" if part.endswith(" in ms") else "/s" if part.endswith(" per s") else "s"
        yield row(
            f"{name}: {part}",
            statistics.fmean(values),
            unit=unit,
            better="higher" if unit == "/s" else "lower",
            n=len(values),
            low=min(values),
            high=max(values),
        )


def _opened(job: Job) -> AbstractContextManager[Engine]:
    return opened_engine(job.topology, Settings(conf=job.conf), note)
