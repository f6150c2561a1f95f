"""A topology one of whose operators works longer than it should, to see whether a gate finds it.

The operator is given so many seconds of CPU more per row; what it waits grows by the same part. How that is done
depends on what it is:

    a cost, for the simulated engine    grows by that much
    a function over batches             burns CPU until its thread's clock has moved on by that much, and sleeps
    a function DataFrame -> DataFrame   draws random numbers, so many per row that comes out

The last one needs to know what a number costs, which only the engine can tell: `profiler.questions.gate.experiment`
measures it.

A function over batches gets a few rows at a time, and to read a thread's clock or to sleep costs as much as a row or
two. So it owes what it is to work longer row by row, and pays when that is worth looking at a clock; what was paid too
much counts for the next rows. Paid batch by batch, a drill was twice what it was meant to be
(scripts/benches/results/gate_spark.md).
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from profiler.job.random_numbers import MODULUS, last_number
from profiler.job.topology import Cost, Function, Operator, Topology

PAID_FROM_S = 0.001
"""Seconds that a function over batches owes before it pays: then clocks, and a sleep that lasts a little longer than it
should, are next to nothing of it."""


@dataclass(frozen=True, slots=True)
class Burden:
    """The work that an operator is made to do beside its own."""

    operator: str
    part: float
    """The burden as a part of the operator's own work."""
    cpu_s_per_row: float
    """CPU seconds for every row it receives."""
    wait_s_per_row: float = 0.0
    """Seconds that it waits for every row it receives, where it is a function over batches."""
    numbers_per_row: int = 0
    """Random numbers for every row it emits, where it is a function of DataFrames."""


def burdened(topology: Topology, burden: Burden) -> Topology:
    """Return the topology with one operator that works longer."""
    operators = [
        _burdened(operator, burden) if operator.name == burden.operator else operator for operator in topology.operators
    ]
    return topology.changed(operators=operators)


def draws_numbers(operator: Operator) -> bool:
    """Tell whether the operator needs `numbers_per_row` to work longer on an engine that runs functions."""
    return operator.function is not None and operator.batches is None


def _burdened(operator: Operator, burden: Burden) -> Operator:
    cost, function = operator.cost, operator.function
    if cost is not None:
        cost = Cost(
            cpu_ms=cost.cpu_ms + 1000 * burden.cpu_s_per_row,
            wait_ms=cost.wait_ms * (1 + burden.part),
            memory_mb=cost.memory_mb,
        )
    if function is not None:
        function = _drawing(function, burden) if operator.batches is None else _burning(function, burden)
    return replace(operator, cost=cost, function=function)


def _drawing(function: Function, burden: Burden) -> Function:
    numbers = burden.numbers_per_row

    @functools.wraps(function)
    def drawing(rows: Any) -> Any:
        from pyspark.sql import functions as F  # noqa: N812 - only where Spark is there already

        made = function(rows)
        if numbers < 1:
            return made
        # From a random number on, so that Spark neither computes it once for all rows nor leaves it out.
        first = F.floor(F.rand() * F.lit(MODULUS))
        return made.where(last_number(first, numbers) >= 0)

    return drawing


def _burning(function: Function, burden: Burden) -> Function:
    # Closed over as plain values: the function travels to workers that may not have the profiler.
    cpu_s_per_row, wait_s_per_row, paid_from_s = burden.cpu_s_per_row, burden.wait_s_per_row, PAID_FROM_S

    @functools.wraps(function)
    def burning(batches: Iterator[Any]) -> Iterator[Any]:
        def worked_for() -> Iterator[Any]:
            owed_cpu_s = owed_wait_s = 0.0
            for batch in batches:
                owed_cpu_s += len(batch) * cpu_s_per_row
                owed_wait_s += len(batch) * wait_s_per_row
                if owed_cpu_s >= paid_from_s:
                    start_s = time.thread_time()
                    while (burnt_s := time.thread_time() - start_s) < owed_cpu_s:
                        pass
                    owed_cpu_s -= burnt_s
                if owed_wait_s >= paid_from_s:
                    start_s = time.perf_counter()
                    time.sleep(owed_wait_s)
                    owed_wait_s -= time.perf_counter() - start_s
                yield batch

        results: Iterator[Any] = function(worked_for())
        return results

    return burning
