"""A topology one of whose operators works longer than it should, to see whether a gate finds it.

The operator is given so many seconds of CPU more per row; what it waits grows by the same part. How that is done
depends on what it is:

    a cost, for the simulated engine    grows by that much
    a function over batches             burns CPU until its thread's clock has moved on by that much, and sleeps
    a function DataFrame -> DataFrame   draws random numbers, so many per row that comes out

The last one needs to know what a number costs, which only the engine can tell: `profiler.questions.gate.experiment`
measures it.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from profiler.job.random_numbers import MODULUS, last_number
from profiler.job.topology import Cost, Function, Operator, Topology


@dataclass(frozen=True, slots=True)
class Burden:
    """The work that an operator is made to do beside its own."""

    operator: str
    part: float
    """The burden as a part of the operator's own work."""
    cpu_s_per_row: float
    """CPU seconds for every row it receives."""
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
    cpu_s_per_row, part = burden.cpu_s_per_row, burden.part

    @functools.wraps(function)
    def burning(batches: Iterator[Any]) -> Iterator[Any]:
        rows = 0
        fed_s = fed_cpu_s = 0.0

        def feed() -> Iterator[Any]:
            nonlocal rows, fed_s, fed_cpu_s
            source = iter(batches)
            while True:
                start_s, start_cpu_s = time.perf_counter(), time.thread_time()
                batch = next(source, None)
                fed_s += time.perf_counter() - start_s
                fed_cpu_s += time.thread_time() - start_cpu_s
                if batch is None:
                    return
                rows += len(batch)
                yield batch

        results = iter(function(feed()))
        while True:
            rows, fed_s, fed_cpu_s = 0, 0.0, 0.0
            start_s, start_cpu_s = time.perf_counter(), time.thread_time()
            result = next(results, None)
            cpu_s = time.thread_time() - start_cpu_s - fed_cpu_s
            waited_s = time.perf_counter() - start_s - fed_s - cpu_s
            until_s = time.thread_time() + rows * cpu_s_per_row
            while time.thread_time() < until_s:
                pass
            time.sleep(max(0.0, part * waited_s))
            if result is None:
                return
            yield result

    return burning
