"""The highest rate that keeps a latency: against the textbook, against sampled rows, and at its limits."""

import numpy as np
import pytest
from simulated_scenarios import chain, tasks

from profiler import Cost, Operator, Source, Topology
from profiler.engines.simulated import Preset, SimulatedEngine, SimulatedPlatform
from profiler.engines.simulated.queueing import Spread
from profiler.experiment.constraint import LatencyConstraint

ASK = chain(Operator("ask", cost=Cost(wait_ms=4)), source=Source("in", cost=Cost(cpu_ms=0.001), pull_per_s=1e6))
DIAMOND = Topology(
    "diamond",
    [Source("in")],
    [
        Operator("split", inputs=["in"], selectivity=2, cost=Cost(cpu_ms=0.1)),
        Operator("ask", inputs=["split"], cost=Cost(cpu_ms=0.02, wait_ms=3)),
        Operator("count", inputs=["split"], stateful=True, key="word", hot_key_share=0.2, cost=Cost(cpu_ms=0.2)),
        Operator("meet", inputs=["ask", "count"], selectivity=0.1, cost=Cost(cpu_ms=0.05)),
        Operator("store", inputs=["meet"], cost=Cost(wait_ms=5)),
    ],
)
CROWDED = tasks(DIAMOND, 1, 2, 6, 3, 1, 2)


def _p95(latency_ms: float) -> LatencyConstraint:
    return LatencyConstraint(latency_ms, 0.95)


@pytest.mark.parametrize("latency_ms", [15, 30, 100])
def test_one_queue_is_the_textbooks(latency_ms):
    """A row's time in M/M/1 is exponential, with what the task can do more than it gets as its rate."""
    engine = SimulatedEngine(
        SimulatedPlatform(service_spread=Spread.EXPONENTIAL, hop_cpu_ms=0, remote_hop_cpu_ms=0, hop_ms=0)
    )
    found = engine.highest_rate(ASK, tasks(ASK, 1, 1), _p95(latency_ms))
    assert found == pytest.approx(250 - np.log(20) / (latency_ms / 1000), rel=0.003)


@pytest.mark.parametrize("preset", [Preset.QUIET, Preset.HOSTILE])
@pytest.mark.parametrize("spread", list(Spread))
@pytest.mark.parametrize("fused", [False, True])
def test_it_is_the_rate_at_which_sampled_rows_have_that_latency(preset, spread, fused):
    """With fan-out, fan-in, a hot key and several nodes; the samples err by some percent."""
    engine = SimulatedEngine(SimulatedPlatform(nodes=3, service_spread=spread), preset, seed=2)
    for load in (0.7, 0.9):
        sampled = engine.truth(DIAMOND, CROWDED, load, fused=fused)
        found = engine.highest_rate(DIAMOND, CROWDED, _p95(sampled.processing_ms.p95), fused=fused)
        assert found == pytest.approx(load * sampled.throughput_per_s, rel=0.04)


def test_the_rate_is_sharp():
    """It is kept a little below and not a little above."""
    engine, configuration = SimulatedEngine(SimulatedPlatform()), tasks(ASK, 1, 2)
    found = engine.highest_rate(ASK, configuration, _p95(20))
    assert engine.keeps(ASK, configuration, 0.998 * found, _p95(20))
    assert not engine.keeps(ASK, configuration, 1.002 * found, _p95(20))


def test_a_latency_that_a_row_alone_does_not_keep_leaves_no_rate():
    """Nor does a smaller rate help."""
    engine = SimulatedEngine(SimulatedPlatform())
    assert engine.highest_rate(ASK, tasks(ASK, 1, 1), _p95(5)) == 0


def test_where_full_queues_are_quick_enough_the_throughput_is_the_limit():
    """No queue holds more than 64 rows, 260 ms of them here; more than the throughput is never kept."""
    engine, configuration = SimulatedEngine(SimulatedPlatform()), tasks(ASK, 1, 1)
    capacity = engine.truth(ASK, configuration).throughput_per_s
    assert engine.highest_rate(ASK, configuration, _p95(500)) == pytest.approx(capacity)
    assert engine.highest_rate(ASK, configuration, _p95(200)) < 0.99 * capacity
    assert not engine.keeps(ASK, configuration, 1.01 * capacity, _p95(500))
