"""Batches of all queries put together as one window; pure, from what progress, stages, offsets and samples told.

A batch is a checkpoint interval of its query: rows and CPU time are known once per batch, so a batch is a window. The
k-th batches of all queries make the k-th window. Their durations differ a little, so they are added as rates.

Throughput is source rows per second *through the whole topology*. Between chains is a topic and no back-pressure: where
an inner chain does not follow, its inbox grows while the source reads on. A chain sustains the part

    rows it processed / rows that arrived in its inbox

of what its producers sustain; the least sustained chain limits the throughput.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from profiler.engines.spark.layout.chains import Layout, QueryLayout, Stage
from profiler.engines.spark.load.topics import Offsets
from profiler.engines.spark.query.python_operator import TaskUse
from profiler.engines.spark.query.query import ROWS_OUT
from profiler.engines.spark.query.rows import WATCHED
from profiler.experiment.observation import Latency, OperatorWindow

OVERRUN = 1.6
"""The factor by which a batch that has clearly overrun is longer than its trigger."""
FOLLOWS_WITHIN_S = 0.5
"""Seconds' worth of arrivals below which an inbox is no backlog: rows arrive while a batch is committed."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One finished batch of a query."""

    number: int
    start_s: float
    duration_s: float
    rows: int
    end_offsets: Offsets
    rows_by_topic: dict[str, int]
    rows_out: dict[str, int]
    """Counted rows by element; empty without full detail."""
    latency: Latency | None = None
    """The processing latency, where it is observed inside the query."""
    state_rows: int | None = None
    """Rows of the whole query's state at the end of the batch; None where it keeps none."""
    observed: Mapping[str, Any] = field(default_factory=dict)
    """The values that Spark was asked to observe in it, by name."""

    @property
    def end_s(self) -> float:
        """When it ended, in seconds since the epoch."""
        return self.start_s + self.duration_s


@dataclass(frozen=True, slots=True)
class Finished:
    """A batch together with what was found when it ended."""

    batch: Batch
    waiting: int
    """Rows in the topics that the query reads which it has not read."""
    waiting_before: int
    """Rows that it had not read at the end of the batch before."""
    stages: tuple[StageCpu, ...]
    """The CPU time of the stages, in chain order."""
    python: Mapping[str, Mapping[int, TaskUse]]
    """Measurements of the tasks of Python operators, by operator and partition."""
    stateful: str | None = None
    """The operator whose state the query keeps; a query has one at the most."""

    def rate(self, quantity: float) -> float:
        """Turn a quantity of the batch into one per second."""
        return quantity / self.batch.duration_s

    @property
    def follows(self) -> float:
        """Part of what arrived that was processed."""
        arrived = self.batch.rows + self.waiting - self.waiting_before
        if arrived <= 0 or self.waiting <= self.rate(arrived) * FOLLOWS_WITHIN_S:
            return 1.0
        return min(1.0, self.batch.rows / arrived)


@dataclass(frozen=True, slots=True)
class StageCpu:
    """CPU time of one stage of one batch; the busiest task's where it was asked for."""

    cpu_s: float
    busiest_task_s: float | None = None


def read_progress(text: str) -> Batch:
    """Read what Spark says of a finished batch."""
    said = json.loads(text)
    observed = said.get("observedMetrics", {})
    end_offsets: Offsets = {}
    rows_by_topic: dict[str, int] = {}
    for source in said["sources"]:
        offsets = source["endOffset"] or {}
        offsets = json.loads(offsets) if isinstance(offsets, str) else offsets
        for topic, partitions in offsets.items():
            end_offsets[topic] = {int(number): int(offset) for number, offset in partitions.items()}
            rows_by_topic[topic] = int(source["numInputRows"])
    return Batch(
        number=int(said["batchId"]),
        start_s=datetime.fromisoformat(said["timestamp"]).timestamp(),
        duration_s=float(said["batchDuration"]) / 1000,
        rows=int(said["numInputRows"]),
        end_offsets=end_offsets,
        rows_by_topic=rows_by_topic,
        rows_out={
            name.removeprefix(ROWS_OUT): int(values["rows"])
            for name, values in observed.items()
            if name.startswith(ROWS_OUT)
        },
        latency=_latency(observed.get(WATCHED, {})),
        state_rows=_state_rows(said.get("stateOperators", ())),
        observed=observed,
    )


def watched_latency(finished: Mapping[str, Finished]) -> Latency | None:
    """Give the latency that a query observed before an operator dropped `event_time`."""
    return next((each.batch.latency for each in finished.values() if each.batch.latency is not None), None)


def throughput_per_s(layout: Layout, finished: Mapping[str, Finished], bounded: Container[str] = ()) -> float:
    """Give the source rows per second that the whole topology sustained.

    Queries that are `bounded`, as the throttle waits for them, follow by themselves: what they have left at the end of
    a batch comes and goes.
    """
    sustained: dict[str, float] = {}
    for query in layout.queries:
        producers = [each.chain.name for each in layout.queries if query.chain.name in each.chain.consumers]
        is_bounded = bool(query.chain.sources) or query.chain.name in bounded
        follows = 1.0 if is_bounded else finished[query.chain.name].follows
        sustained[query.chain.name] = follows * min((sustained[name] for name in producers), default=1.0)
    read = sum(
        finished[query.chain.name].rate(finished[query.chain.name].batch.rows)
        for query in layout.queries
        if query.chain.sources
    )
    return read * min(sustained.values())


def overran(finished: Mapping[str, Finished], window_s: float) -> bool:
    """Tell whether a batch ran clearly longer than its trigger."""
    return any(each.batch.duration_s > OVERRUN * window_s for each in finished.values())


def cpu_s(finished: Mapping[str, Finished], duration_s: float) -> float:
    """Sum the CPU time of all stages and Python workers, brought to the window's length."""
    return duration_s * sum(
        each.rate(sum(stage.cpu_s for stage in each.stages) + _worker_cpu_s(each)) for each in finished.values()
    )


def operator_windows(
    layout: Layout,
    finished: Mapping[str, Finished],
    source_topics: Mapping[str, str],
    duration_s: float,
    weights: Mapping[str, float],
    *,
    counted: bool,
) -> dict[str, OperatorWindow]:
    """Give what every source and operator did, its rows only where they were `counted`.

    Busy time of a Python operator is measured around its function; of the others it is the stage's CPU time. A stage
    that several elements share is divided by `weights`, their CPU time as known from stages of their own, else evenly.
    """
    windows: dict[str, OperatorWindow] = {}
    for query in layout.queries:
        seen = finished[query.chain.name]
        rows = _rows(query, seen, source_topics) if counted else {}
        scale = duration_s / seen.batch.duration_s
        for stage, used in zip(query.stages, seen.stages, strict=True):
            for name, share in _shares(stage, weights).items():
                window = _window(stage, used, share, seen.python.get(name, {}), rows.get(name), scale)
                state_rows = seen.batch.state_rows if name == seen.stateful else None
                windows[name] = window if state_rows is None else replace(window, state_rows=float(state_rows))
    return windows


def _window(
    stage: Stage,
    used: StageCpu,
    share: float,
    python: Mapping[int, TaskUse],
    rows: tuple[float, float] | None,
    scale: float,
) -> OperatorWindow:
    cpu = used.cpu_s * share
    busiest = (used.busiest_task_s * share) if used.busiest_task_s is not None else cpu / stage.tasks
    busy, work, waiting = cpu, None, None
    if python:
        busy = sum(use.busy_s for use in python.values())
        busiest = max(use.busy_s for use in python.values())
        cpu += sum(use.worker_cpu_s for use in python.values())
        work = sum(use.cpu_s for use in python.values())
        waiting = max(0.0, busy - work - sum(use.queued_s for use in python.values()))
    rows_in, rows_out = rows if rows is not None else (None, None)
    return OperatorWindow(
        tasks=stage.tasks,
        rows_in=None if rows_in is None else rows_in * scale,
        rows_out=None if rows_out is None else rows_out * scale,
        busy_s=busy * scale,
        cpu_s=cpu * scale,
        busiest_task_s=busiest * scale,
        work_s=None if work is None else work * scale,
        waiting_s=None if waiting is None else waiting * scale,
    )


def _shares(stage: Stage, weights: Mapping[str, float]) -> dict[str, float]:
    known = [weights.get(name, 0.0) for name in stage.elements]
    if not all(known):
        known = [1.0] * len(stage.elements)
    return {name: weight / sum(known) for name, weight in zip(stage.elements, known, strict=True)}


def _rows(query: QueryLayout, seen: Finished, source_topics: Mapping[str, str]) -> dict[str, tuple[float, float]]:
    """Give rows in and out: an operator receives what the one before it in the chain emits."""
    rows: dict[str, tuple[float, float]] = {}
    for name in query.chain.sources:
        read = float(seen.batch.rows_by_topic.get(source_topics[name], 0))
        rows[name] = (read, read)
    coming = float(seen.batch.rows)
    for name in query.chain.operators:
        going = float(seen.batch.rows_out.get(name, 0))
        rows[name] = (coming, going)
        coming = going
    return rows


def _worker_cpu_s(seen: Finished) -> float:
    return sum(use.worker_cpu_s for tasks in seen.python.values() for use in tasks.values())


def learnt_weights(operators: Mapping[str, OperatorWindow], layout: Layout, rows: float) -> dict[str, float]:
    """Learn the CPU time per source row of elements that had a stage of their own."""
    shared = {name for stage in layout.shared_stages for name in stage.elements}
    if rows <= 0:
        return {}
    return {name: seen.cpu_s / rows for name, seen in operators.items() if name not in shared}


def _state_rows(operators: Sequence[Mapping[str, Any]]) -> int | None:
    return sum(int(each["numRowsTotal"]) for each in operators) if operators else None


def _latency(observed: Mapping[str, Any]) -> Latency | None:
    if observed.get("processing") is None:
        return None
    return Latency(observed["processing_mean"], *observed["processing"])
