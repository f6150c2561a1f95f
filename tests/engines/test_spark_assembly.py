"""Batches of several queries put together as one window."""

from __future__ import annotations

import json

import pytest

from profiler import Operator, Source, Topology
from profiler.engines.spark.layout.chains import layout
from profiler.engines.spark.query.python_operator import TaskUse
from profiler.engines.spark.windows import assembly
from profiler.engines.spark.windows.assembly import Batch, Finished, StageCpu
from profiler.experiment.observation import Latency
from profiler.job.configuration import Configuration


def same(rows):
    return rows


CHAIN = Topology.chain("chain", Source("in"), Operator("a", same), Operator("b", same, stateful=True))
DIAMOND = Topology(
    "diamond",
    [Source("in")],
    [
        Operator("a", same, inputs=["in"]),
        Operator("b", same, inputs=["a"]),
        Operator("c", same, inputs=["a"]),
        Operator("d", same, inputs=["b", "c"]),
    ],
)


def deployed(topology: Topology, *tasks: int):
    return layout(topology, Configuration.of(dict(zip(topology.names, tasks, strict=True))))


def finished(
    rows: int, *cpu_s: float, duration_s: float = 2.0, waiting: tuple[int, int] = (0, 0), python=None, rows_out=None
) -> Finished:
    batch = Batch(3, 100.0, duration_s, rows, {}, {"topic": rows}, rows_out or {})
    return Finished(batch, waiting[1], waiting[0], tuple(StageCpu(value) for value in cpu_s), python or {})


def test_progress_is_read():
    """Rows by topic, offsets, counted rows, and times from what Spark writes."""
    batch = assembly.read_progress(
        json.dumps(
            {
                "batchId": 7,
                "timestamp": "2026-01-01T00:00:10.500Z",
                "batchDuration": 3200,
                "numInputRows": 30,
                "sources": [
                    {"numInputRows": 10, "endOffset": {"x": {"0": 5, "1": 6}}},
                    {"numInputRows": 20, "endOffset": {"y": {"0": 20}}},
                ],
                "observedMetrics": {
                    "rows out of split": {"rows": 90},
                    "latency before event_time is lost": {
                        "processing_mean": 2.0,
                        "processing": [1, 2, 3],
                    },
                },
            }
        )
    )
    assert (batch.number, batch.rows, batch.duration_s) == (7, 30, 3.2)
    assert batch.end_s == pytest.approx(batch.start_s + 3.2)
    assert batch.end_offsets == {"x": {0: 5, 1: 6}, "y": {0: 20}}
    assert batch.rows_by_topic == {"x": 10, "y": 20}
    assert batch.rows_out == {"split": 90}
    assert batch.latency == Latency(2.0, 1, 2, 3)


def test_a_batch_without_samples_has_no_latency():
    """Spark then observes nulls."""
    said = {"batchId": 0, "timestamp": "2026-01-01T00:00:00Z", "batchDuration": 1, "numInputRows": 0, "sources": []}
    observed = {"latency before event_time is lost": {"processing_mean": None, "processing": None}}
    assert assembly.read_progress(json.dumps({**said, "observedMetrics": observed})).latency is None


def test_throughput_is_source_rows_per_second():
    """One chain: rows over the batch's duration."""
    assert assembly.throughput_per_s(deployed(CHAIN, 1, 2, 2), {"a": finished(600)}) == 300


def test_the_slowest_chain_limits_the_throughput():
    """B processes half of what arrives and D four fifths of that: two fifths of the source's rows come through."""
    seen = {
        "a": finished(1000),
        "b": finished(500, waiting=(0, 500)),
        "c": finished(1000),
        "d": finished(800, waiting=(1000, 1200)),
    }
    assert assembly.throughput_per_s(deployed(DIAMOND, 1, 1, 1, 1, 1), seen) == pytest.approx(500 * 0.5 * 0.8)
    assert assembly.throughput_per_s(deployed(DIAMOND, 1, 1, 1, 1, 1), seen, bounded={"b", "d"}) == 500


def test_rows_that_arrive_while_a_batch_is_committed_are_no_backlog():
    """A chain that follows is not taken for slow."""
    assert finished(1000, waiting=(0, 200)).follows == 1.0
    assert finished(1000, waiting=(0, 600)).follows < 0.7
    assert finished(0).follows == 1.0


def test_a_batch_that_ran_much_longer_than_its_trigger_overran():
    """The pause at a batch's end alone does not count."""
    assert not assembly.overran({"a": finished(1, duration_s=3.5)}, 3.0)
    assert assembly.overran({"a": finished(1), "b": finished(1, duration_s=4.9)}, 3.0)


def test_cpu_time_is_brought_to_the_window():
    """A batch half as long as the window counts twice; Python workers are part of it."""
    python = {"b": {0: TaskUse(1.0, 0.2, 0.5, 10, 10)}}
    seen = {"a": finished(1, 0.3, 0.7), "b": finished(1, 0.5, duration_s=1.0, python=python)}
    assert assembly.cpu_s(seen, 2.0) == pytest.approx(1.0 + 2 * (0.5 + 0.5))


def test_an_operator_s_busy_time_is_its_stage_s_cpu_time():
    """Rows in are what the element before it emits."""
    seen = {"a": finished(100, 0.1, 0.2, 0.4, rows_out={"a": 300, "b": 300})}
    windows = assembly.operator_windows(deployed(CHAIN, 1, 2, 2), seen, {"in": "topic"}, 2.0, {}, counted=True)
    assert {name: (seen.rows_in, seen.rows_out) for name, seen in windows.items()} == {
        "in": (100, 100),
        "a": (100, 300),
        "b": (300, 300),
    }
    assert [windows[name].busy_s for name in ("in", "a", "b")] == [0.1, 0.2, 0.4]
    assert windows["b"].busiest_task_s == 0.2


def test_without_full_detail_rows_are_unknown():
    """Those of the sources too: a window is one or the other."""
    seen = {"a": finished(100, 0.1, 0.2, 0.4)}
    windows = assembly.operator_windows(deployed(CHAIN, 1, 2, 2), seen, {"in": "topic"}, 2.0, {}, counted=False)
    rows = {name: (window.rows_in, window.rows_out) for name, window in windows.items()}
    assert rows == dict.fromkeys(("in", "a", "b"), (None, None))


def test_a_python_operator_is_busy_while_it_waits():
    """Its busy time was measured around the function; its CPU time is the stage's and its workers'."""
    python = {"a": {0: TaskUse(1.5, 0.1, 0.2, 10, 10), 1: TaskUse(0.5, 0.1, 0.2, 10, 10)}}
    seen = {"a": finished(100, 0.1, 0.2, 0.4, python=python)}
    window = assembly.operator_windows(deployed(CHAIN, 1, 2, 2), seen, {"in": "topic"}, 2.0, {}, counted=False)["a"]
    assert (window.busy_s, window.busiest_task_s) == (2.0, 1.5)
    assert window.cpu_s == pytest.approx(0.2 + 0.4)


def test_a_shared_stage_is_divided_by_what_is_known_of_its_elements():
    """By their CPU time in stages of their own, else evenly."""
    joined = deployed(CHAIN, 1, 1, 1)
    seen = {"a": finished(100, 0.1, 0.8)}
    even = assembly.operator_windows(joined, seen, {"in": "topic"}, 2.0, {}, counted=False)
    assert (even["a"].cpu_s, even["b"].cpu_s) == (0.4, 0.4)
    known = assembly.operator_windows(joined, seen, {"in": "topic"}, 2.0, {"a": 3.0, "b": 1.0}, counted=False)
    assert known["a"].cpu_s == pytest.approx(0.6)
    assert known["b"].cpu_s == pytest.approx(0.2)


def test_only_stages_of_their_own_teach_the_weights():
    """A shared stage says nothing of its elements."""
    apart, joined = deployed(CHAIN, 1, 2, 1), deployed(CHAIN, 1, 1, 1)
    windows = assembly.operator_windows(
        apart, {"a": finished(100, 0.1, 0.2, 0.4)}, {"in": "topic"}, 2.0, {}, counted=False
    )
    assert assembly.learnt_weights(windows, apart, 100) == pytest.approx({"in": 0.001, "a": 0.002, "b": 0.004})
    assert set(assembly.learnt_weights(windows, joined, 100)) == {"in"}
    assert assembly.learnt_weights(windows, apart, 0) == {}
