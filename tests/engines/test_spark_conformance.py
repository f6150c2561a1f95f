"""The Spark engine keeps the contract of all engines."""

from __future__ import annotations

import pytest
import spark_operators as jobs
from conformance import EngineConformance

from profiler import Operator, Source, Topology
from profiler.observation import Detail, Observation


@pytest.mark.spark
@pytest.mark.kafka
class TestSparkEngine(EngineConformance):
    windows = 4

    @pytest.fixture
    def engine(self, spark_engine):
        return spark_engine

    @pytest.fixture
    def topology(self):
        """An operator that waits 10 ms a row: it takes 100 rows/s on any machine."""
        rows = "key string, value string, event_time timestamp"
        wait = Operator("wait", jobs.wait, batches="arrow", schema=rows)
        return Topology.chain("waiting", Source("lines"), Operator("keep", jobs.keep), wait)

    @pytest.fixture
    def low_rate(self):
        return 40.0

    @pytest.fixture
    def stress_rate(self):
        return 400.0

    def test_a_low_rate_goes_through(self, deployment, low_rate):
        """What is offered comes out; in short windows a batch's rows vary, so it is their mean that counts."""
        windows = list(deployment.observe(low_rate, 3 * self.windows))[self.windows :]
        assert all(window.offered_per_s == pytest.approx(low_rate, rel=0.05) for window in windows)
        assert mean_throughput(windows) == pytest.approx(low_rate, rel=0.1)

    def test_today_s_job_runs_fused(self, engine, topology, configuration, low_rate):
        """Fused as written, the same rows go through."""
        running = engine.deploy(topology, configuration, Detail.LIGHT, fused=True)
        windows = list(running.observe(low_rate, 3 * self.windows))[self.windows :]
        running.close()
        assert mean_throughput(windows) == pytest.approx(low_rate, rel=0.1)


def mean_throughput(windows: list[Observation]) -> float:
    rows = sum(window.source_rows for window in windows)
    return rows / sum(window.duration_s for window in windows)
