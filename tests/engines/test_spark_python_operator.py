"""The wrapper that measures a user's batch function."""

from __future__ import annotations

import time
from functools import partial

import pytest

from profiler import Operator
from profiler.engines.spark.query import python_operator
from profiler.engines.spark.query.python_operator import MergeUses, uses_of


class Task:
    """A task's context, as Spark gives it."""

    def __init__(self, partition: int) -> None:
        self._partition = partition

    def partitionId(self) -> int:  # noqa: N802
        return self._partition

    def getLocalProperty(self, key: str) -> str:  # noqa: N802
        return {"sql.streaming.queryId": "q", "streaming.sql.batchId": "4"}[key]


class Collected:
    """An accumulator in this process."""

    def __init__(self) -> None:
        self.value: python_operator.Uses = {}

    def add(self, more: python_operator.Uses) -> None:
        self.value = MergeUses().addInPlace(self.value, more)


def run(monkeypatch, function, batches, *, partition: int = 0, exactly: bool = False) -> tuple[list[object], Collected]:
    """Run a wrapped function as a worker would, on a clock that only the test moves."""
    collected = Collected()
    monkeypatch.setattr(python_operator.TaskContext, "get", lambda: Task(partition))
    measured = python_operator.measured("op", function, collected, exactly=exactly)
    return list(measured(iter(batches))), collected


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """Wall time and CPU time that stand still."""
    clock = Clock()
    for name in ("perf_counter", "thread_time", "process_time"):
        monkeypatch.setattr(time, name, clock)
    return clock


def test_waiting_for_input_is_not_busy(monkeypatch, clock):
    """Only time inside the function counts, whether it is spent before or after its yield."""

    def batches():
        for size in (2, 3):
            clock.now += 100.0
            yield [0] * size

    def function(rows):
        for batch in rows:
            clock.now += 1.0
            yield batch * 2
            clock.now += 0.5

    results, collected = run(monkeypatch, function, batches(), partition=5)
    (use,) = uses_of(collected.value, "q", 4, "op").values()
    assert [len(result) for result in results] == [4, 6]
    assert use.busy_s == pytest.approx(3.0)
    assert (use.rows_in, use.rows_out) == (5, 10)
    assert use.worker_cpu_s == pytest.approx(203.0)


def test_a_function_that_is_no_generator_is_busy_when_it_is_called(monkeypatch, clock):
    def batches():
        for number in range(3):
            clock.now += 10.0
            yield [number]

    def eager(rows):
        done = []
        for batch in rows:
            clock.now += 2.0
            done.append(batch)
        return done

    results, collected = run(monkeypatch, eager, batches())
    assert results == [[0], [1], [2]]
    assert uses_of(collected.value, "q", 4, "op")[0].busy_s == pytest.approx(6.0)


def test_uses_are_told_apart_by_query_batch_operator_and_partition(monkeypatch):
    """A window takes its own batch's only."""
    _, collected = run(monkeypatch, lambda rows: rows, [[1]], partition=2)
    assert list(uses_of(collected.value, "q", 4, "op")) == [2]
    assert not uses_of(collected.value, "q", 5, "op")
    assert not uses_of(collected.value, "q", 4, "other")
    assert not uses_of(collected.value, "p", 4, "op")


def test_an_exception_carries_the_operator_s_name(monkeypatch):
    """It is what the user reads later, far from the worker."""

    def function(rows):
        for _ in rows:
            raise KeyError("gone")
        yield

    with pytest.raises(KeyError) as raised:
        run(monkeypatch, function, [[1]])
    assert raised.value.__notes__ == ["in the profiled operator 'op'"]


def test_the_module_of_a_partial_function_travels(monkeypatch):
    """A user's own, not the one in which Python defines what a partial function is."""
    travelling = []
    monkeypatch.setattr(python_operator.cloudpickle, "register_pickle_by_value", travelling.append)
    python_operator.travel_by_value(Operator("op", partial(partial(run, 1), 2)))
    assert [module.__name__ for module in travelling] == [__name__]
