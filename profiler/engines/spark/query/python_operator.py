"""A user's batch function, measured where it runs.

Busy time is the time inside the function: its waiting included, the waiting for its next batch of input excluded. Its
CPU time is the thread's, and the two differ by what it waited: for a service, a disk, a lock, but for a core as well,
where cores are scarce; `exactly` tells that apart. What a task measured arrives in an accumulator when the task ends,
that is once per batch of the query.

This module travels to the workers by value: they need not have the profiler installed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from pyspark import Accumulator, TaskContext, cloudpickle
from pyspark.accumulators import AccumulatorParam
from pyspark.sql import DataFrame

from profiler.engines.spark.query.queued_time import QueuedTime
from profiler.job.topology import Batches, Operator

NOTE = "in the profiled operator "
"""The text that marks the operator in a traceback, followed by its name in quotes."""


@dataclass(frozen=True, slots=True)
class TaskUse:
    """What one task of a Python operator did during one batch of its query."""

    busy_s: float
    cpu_s: float
    """CPU seconds of the function alone."""
    worker_cpu_s: float
    """CPU seconds of the whole worker, conversion of batches included."""
    rows_in: int
    rows_out: int
    queued_s: float = 0.0
    """Seconds of the busy time in which it waited for a core; 0 where nobody looked."""


Key = tuple[str, int, str, int]
"""Query, batch, operator, partition."""
Uses = dict[Key, tuple[float, float, float, int, int, float]]


class MergeUses(AccumulatorParam[Uses]):
    """Collects what tasks measured; every task has a key of its own, so the order does not matter."""

    def zero(self, value: Uses) -> Uses:  # noqa: ARG002 - the interface
        """Start with nothing."""
        return {}

    def addInPlace(self, value1: Uses, value2: Uses) -> Uses:  # noqa: N802 - the interface
        """Add what another task measured."""
        value1.update(value2)
        return value1


def uses_of(uses: Uses, query: str, batch: int, operator: str) -> dict[int, TaskUse]:
    """Give what each partition of an operator did in a batch."""
    return {key[3]: TaskUse(*values) for key, values in list(uses.items()) if key[:3] == (query, batch, operator)}


def apply(rows: DataFrame, operator: Operator, uses: Accumulator[Uses], *, exactly: bool = False) -> DataFrame:
    """Run a batch function over the rows, measured; `exactly` tells the waiting for a core apart."""
    if operator.function is None or operator.schema is None:
        raise AssertionError(operator.name)
    function = measured(operator.name, operator.function, uses, exactly=exactly)
    schema = operator.schema
    return (
        rows.mapInArrow(function, schema) if operator.batches == Batches.ARROW else rows.mapInPandas(function, schema)
    )


def travel_by_value(operator: Operator) -> None:
    """Make the operator's module travel to the workers: a user's file is no module that they could import."""
    function: Any = operator.function
    while isinstance(function, partial) or hasattr(function, "__wrapped__"):
        function = function.func if isinstance(function, partial) else function.__wrapped__
    module = sys.modules.get(getattr(function, "__module__", ""))
    if module is not None and not module.__name__.startswith("pyspark"):
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]


def measured(
    name: str, function: Callable[..., Any], uses: Accumulator[Uses], *, exactly: bool = False
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Wrap a batch function, so that what a task measures of it is added to `uses` when the task ends."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        waited_s = waited_cpu_s = busy_s = cpu_s = 0.0
        rows_in = rows_out = 0
        worker_s = time.process_time()
        queued = QueuedTime()

        def feed() -> Iterator[Any]:
            nonlocal waited_s, waited_cpu_s, rows_in
            source = iter(batches)
            while True:
                start_s, start_cpu_s = time.perf_counter(), time.thread_time()
                try:
                    batch = next(source, None)
                finally:
                    waited_s += time.perf_counter() - start_s
                    waited_cpu_s += time.thread_time() - start_cpu_s
                if batch is None:
                    return
                rows_in += len(batch)
                yield batch

        @contextmanager
        def busy() -> Iterator[None]:
            nonlocal busy_s, cpu_s
            start_s, start_cpu_s = time.perf_counter() - waited_s, time.thread_time() - waited_cpu_s
            try:
                yield
            except Exception as error:
                error.add_note(f"{NOTE}'{name}'")
                raise
            finally:
                busy_s += time.perf_counter() - waited_s - start_s
                cpu_s += time.thread_time() - waited_cpu_s - start_cpu_s

        with busy():  # a function that is no generator works here already
            results = iter((queued.around(function) if exactly else function)(feed()))
        while True:
            with busy():
                result = next(results, None)
            if result is None:
                break
            rows_out += len(result)
            yield result
        task = TaskContext.get()
        if task is None:
            raise AssertionError
        query = str(task.getLocalProperty("sql.streaming.queryId"))
        batch_id = int(task.getLocalProperty("streaming.sql.batchId") or 0)
        key = (query, batch_id, name, task.partitionId())
        uses.add({key: (busy_s, cpu_s, time.process_time() - worker_s, rows_in, rows_out, queued.total_s)})

    return run


cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
