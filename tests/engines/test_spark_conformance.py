"""The Spark engine keeps the contract of all engines."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import pytest
import spark_operators as jobs
from conformance import EngineConformance

from profiler import Operator, Source, Topology
from profiler.errors import ProfileError
from profiler.experiment.comparing.side_by_side import observed_together
from profiler.experiment.observation import Detail, Observation


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

    def test_two_deployments_run_at_the_same_time(self, engine, topology, configuration, low_rate):
        """Each has its own rows and operators; one that ends leaves the other as it is."""
        assert engine.platform.side_by_side
        with (
            closing(engine.deploy(topology, configuration, Detail.APART)) as first,
            closing(engine.deploy(topology, configuration, Detail.APART)) as second,
        ):
            seen = observed_together((first, second), [low_rate] * 2, 2 * self.windows, lambda _: None)
            for windows in seen:
                assert mean_throughput(windows[self.windows :]) == pytest.approx(low_rate, rel=0.2)
                assert all(each.cpu_s > 0 for each in windows[-1].operators.values())
            first.close()
            alone = list(second.observe(low_rate, self.windows))
            assert mean_throughput(alone) == pytest.approx(low_rate, rel=0.3)

    def test_slots_of_a_deployment_that_runs_are_not_given_away(self, engine, topology, configuration, deployment):
        """A second one that would fit alone is refused with the slots that are left."""
        left = engine.platform.slots - configuration.slots
        too_many = configuration.with_tasks({"wait": engine.platform.slots - 2})
        with pytest.raises(ProfileError, match=rf"\b{left}\b"):
            engine.deploy(topology, too_many, Detail.LIGHT)


def mean_throughput(windows: Sequence[Observation]) -> float:
    rows = sum(window.source_rows for window in windows)
    return rows / sum(window.duration_s for window in windows)
