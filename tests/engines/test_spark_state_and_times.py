"""State rows, and the parts of a Python operator's time, in the windows of the Spark engine."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from profiler.engines.spark.query.python_operator import TaskUse
from profiler.engines.spark.windows import assembly
from tests.engines.test_spark_assembly import CHAIN, deployed, finished

PROGRESS = {"batchId": 0, "timestamp": "2026-01-01T00:00:00Z", "batchDuration": 1, "numInputRows": 0, "sources": []}


def test_state_rows_are_read_from_the_progress():
    """An operator may keep several states; a query without any says so."""
    operators = [{"numRowsTotal": 40, "commitTimeMs": 3}, {"numRowsTotal": 2}]
    assert assembly.read_progress(json.dumps({**PROGRESS, "stateOperators": operators})).state_rows == 42
    assert assembly.read_progress(json.dumps({**PROGRESS, "stateOperators": []})).state_rows is None
    assert assembly.read_progress(json.dumps(PROGRESS)).state_rows is None


def test_state_belongs_to_the_operator_that_keeps_it():
    """Not scaled to the window: it is what is there."""
    seen = finished(100, 0.1, 0.2, 0.4)
    seen = replace(seen, batch=replace(seen.batch, state_rows=500), stateful="b")
    windows = assembly.operator_windows(deployed(CHAIN, 1, 2, 2), {"a": seen}, {"in": "topic"}, 4.0, {}, counted=False)
    assert {name: window.state_rows for name, window in windows.items()} == {"in": None, "a": None, "b": 500}


def test_a_python_operator_s_time_has_three_parts():
    """Its own work, waiting without that for a core, and the rest of its CPU time, which hands rows over."""
    uses = {0: TaskUse(1.5, 0.1, 0.3, 10, 10, 0.2), 1: TaskUse(0.5, 0.1, 0.3, 10, 10, 0.1)}
    seen = {"a": finished(100, 0.1, 0.2, 0.4, python={"a": uses})}
    windows = assembly.operator_windows(deployed(CHAIN, 1, 2, 2), seen, {"in": "topic"}, 2.0, {}, counted=False)
    assert windows["a"].work_s == pytest.approx(0.2)
    assert windows["a"].waiting_s == pytest.approx(2.0 - 0.2 - 0.3)
    assert windows["a"].cpu_s == pytest.approx(0.2 + 0.6)
    assert (windows["b"].work_s, windows["b"].waiting_s) == (None, None)
