"""Waiting for a core, as the system accounts for it, is told apart from waiting for anything else."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time

import pytest
from pyspark import cloudpickle

from profiler.engines.spark.query import queued_time
from profiler.engines.spark.query.queued_time import QueuedTime
from tests.engines.test_spark_python_operator import run, uses_of


@pytest.fixture
def account(monkeypatch):
    """An account that only the test moves."""

    class Account:
        queued_s = 0.0

        def __call__(self) -> float:
            return self.queued_s

    account = Account()
    monkeypatch.setattr(queued_time, "account", lambda: contextlib.nullcontext(account))
    return account


def test_only_waiting_inside_the_function_counts(account):
    """What the worker waited while it was given rows is not the function's."""

    def batches():
        for _ in range(3):
            account.queued_s += 100.0
            yield [0]

    def function(rows):
        for batch in rows:
            account.queued_s += 1.0
            yield batch
            account.queued_s += 0.5

    queued = QueuedTime()
    assert len(list(queued.around(function)(batches()))) == 3
    assert queued.total_s == pytest.approx(4.5)


def test_a_task_tells_it_only_where_it_is_asked(monkeypatch, account):
    """Decision windows do not read the account."""

    def function(rows):
        for batch in rows:
            account.queued_s += 2.0
            yield batch

    _, light = run(monkeypatch, function, [[1], [2]])
    _, full = run(monkeypatch, function, [[1], [2]], exactly=True)
    assert [use.queued_s for use in uses_of(light.value, "q", 4, "op").values()] == [0.0]
    assert [use.queued_s for use in uses_of(full.value, "q", 4, "op").values()] == [pytest.approx(4.0)]


def test_the_system_s_own_account_can_be_read():
    """Sleeping is no waiting for a core; a system without the account counts nothing."""
    queued = QueuedTime()

    def function(rows):
        for batch in rows:
            time.sleep(0.05)
            yield batch

    list(queued.around(function)(iter([[1], [2]])))
    assert 0.0 <= queued.total_s < 0.09


def test_a_system_without_an_account_counts_nothing(monkeypatch):
    monkeypatch.setattr(queued_time, "ACCOUNT", "/proc/no-such-file")
    queued = QueuedTime()
    list(queued.around(lambda rows: rows)(iter([[1]])))
    assert queued.total_s == 0.0


def test_what_measures_an_operator_travels_to_workers_without_the_profiler(tmp_path):
    """By value: a worker of a cluster cannot import it."""
    travelling = tmp_path / "travelling"
    travelling.write_bytes(cloudpickle.dumps(QueuedTime))
    worker = (
        "import sys, pickle; sys.modules['profiler'] = None; "
        f"queued = pickle.load(open({str(travelling)!r}, 'rb'))(); "
        "print(list(queued.around(lambda rows: rows)(iter([[1], [2]]))), queued.total_s >= 0)"
    )
    answer = subprocess.run([sys.executable, "-c", worker], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert answer.stdout == "[[1], [2]] True\n", answer.stderr
