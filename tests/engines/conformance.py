"""What every engine must do: one class of tests, run on each by a subclass that says what to run at which rates."""

import itertools
from collections.abc import Iterator

import pytest

from profiler.errors import ProfileError
from profiler.experiment.engine import Deployment, Engine
from profiler.experiment.observation import Detail, Latency, Observation, end_to_end_latency
from profiler.job.configuration import Configuration
from profiler.job.topology import Topology


class EngineConformance:
    """The contract of deploy, observe and close. A subclass gives the fixtures below, at a scope of its choice."""

    windows = 3

    @pytest.fixture
    def engine(self) -> Iterator[Engine]:
        """Start the engine and close it at the end."""
        raise NotImplementedError

    @pytest.fixture
    def topology(self) -> Topology:
        """A topology with at least one operator, all of whose rows are conserved on every edge."""
        raise NotImplementedError

    @pytest.fixture
    def low_rate(self) -> float:
        """Rows per second that one task each carries with ease."""
        raise NotImplementedError

    @pytest.fixture
    def stress_rate(self) -> float:
        """Rows per second that one task each cannot carry."""
        raise NotImplementedError

    @pytest.fixture
    def configuration(self, topology: Topology) -> Configuration:
        """One task each."""
        return Configuration.of(dict.fromkeys(topology.names, 1))

    @pytest.fixture
    def deployment(self, engine: Engine, topology: Topology, configuration: Configuration) -> Iterator[Deployment]:
        running = engine.deploy(topology, configuration, Detail.LIGHT)
        yield running
        running.close()

    def test_the_platform_has_room_for_a_task(self, engine):
        """Slots, cores and nodes are what a policy may know."""
        platform = engine.platform
        assert min(platform.slots, platform.cores, platform.nodes) >= 1
        assert platform.versions
        assert engine.name
        assert engine.window_s > 0

    def test_observe_yields_the_windows_asked_for_and_each_is_sound(self, deployment, engine, low_rate):
        """Every window comes, the first included, one after the other; figures are positive and latencies ordered."""
        windows = list(deployment.observe(low_rate, self.windows))
        assert len(windows) == self.windows
        for earlier, later in itertools.pairwise(windows):
            assert later.start_s >= earlier.start_s + 0.9 * earlier.duration_s
        for window in windows:
            assert window.duration_s >= 0.9 * engine.window_s
            assert window.throughput_per_s > 0
            assert window.queue_rows >= 0
            assert window.speed_index > 0
            assert window.cpu_s > 0
            latency, of_rows = window.processing_ms, Latency.of_rows([window.processing_rows])
            assert 0 < latency.p50 <= latency.p95 <= latency.p99 <= latency.p999
            assert of_rows.p50 == pytest.approx(latency.p50, rel=0.02, abs=0.1)

    def test_a_low_rate_goes_through(self, deployment, low_rate):
        """What is offered comes out, once the deployment is warm."""
        last = self._last(deployment, low_rate)
        assert last.offered_per_s == pytest.approx(low_rate)
        assert last.throughput_per_s == pytest.approx(low_rate, rel=0.1)

    def test_stress_builds_a_backlog(self, deployment, stress_rate):
        """Above capacity rows pile up before the source, window by window: what they wait there is told by nobody."""
        windows = list(deployment.observe(stress_rate, self.windows))
        assert end_to_end_latency(windows) is None
        assert windows[-1].throughput_per_s < stress_rate
        assert windows[-1].queue_rows > windows[0].queue_rows > 0

    def test_every_observe_starts_with_an_empty_backlog(self, deployment, stress_rate, low_rate):
        """What piled up under stress does not weigh on the next measurement."""
        stressed = self._last(deployment, stress_rate)
        calm = next(iter(deployment.observe(low_rate, 1)))
        assert calm.queue_rows < 0.1 * stressed.queue_rows

    def test_light_detail_counts_no_rows(self, deployment, topology, low_rate):
        """Decision windows tell busy and CPU time of every element, and no rows."""
        window = next(deployment.observe(low_rate, 1))
        assert set(window.operators) == set(topology.names)
        assert all(seen.rows_in is None and seen.rows_out is None for seen in window.operators.values())
        assert all(seen.busy_s > 0 for seen in window.operators.values())

    def test_full_detail_tells_every_operator(self, engine, topology, configuration, low_rate):
        """Rows, busy and CPU seconds of every source and operator."""
        running = engine.deploy(topology, configuration, Detail.FULL)
        last = self._last(running, low_rate)
        running.close()
        assert set(last.operators) == set(topology.names)
        for name, seen in last.operators.items():
            assert seen.tasks == configuration[name]
            assert seen.rows_in > 0
            assert 0 < seen.busiest_task_s <= seen.busy_s * (1 + 1e-9)
            assert seen.busiest_task_s <= 1.05 * last.duration_s
            assert seen.cpu_s > 0

    def test_operators_are_told_apart_without_counting_rows(self, engine, topology, configuration, low_rate):
        """Where a gate names operators: the CPU time of every one, as little else as in decision windows."""
        running = engine.deploy(topology, configuration, Detail.APART)
        last = self._last(running, low_rate)
        running.close()
        assert set(last.operators) == set(topology.names)
        assert all(seen.cpu_s > 0 and seen.rows_in is None for seen in last.operators.values())

    def test_too_many_tasks_are_refused_with_their_number(self, engine, topology, configuration):
        """A configuration that does not fit the slots does not start, and the message says how many it needs."""
        too_many = configuration.with_tasks({topology.sources[0].name: engine.platform.slots + 1})
        with pytest.raises(ProfileError, match=str(too_many.slots)) as refused:
            engine.deploy(topology, too_many, Detail.LIGHT)
        assert refused.value.hint

    def test_today_s_job_runs_fused(self, engine, topology, configuration, low_rate):
        """Fused as written, the same rows go through."""
        running = engine.deploy(topology, configuration, Detail.LIGHT, fused=True)
        assert self._last(running, low_rate).throughput_per_s == pytest.approx(low_rate, rel=0.1)
        running.close()

    def test_closing_twice_is_fine_and_another_can_start(self, engine, topology, configuration, low_rate):
        """A session outlives its deployments."""
        for _ in range(2):
            running = engine.deploy(topology, configuration, Detail.LIGHT)
            assert next(running.observe(low_rate, 1)).throughput_per_s > 0
            running.close()
            running.close()

    def test_a_closed_deployment_yields_nothing(self, deployment, low_rate):
        """Observing what was ended is an error, not a silence."""
        deployment.close()
        with pytest.raises(ProfileError, match="closed"):
            list(deployment.observe(low_rate, 1))

    def _last(self, deployment: Deployment, rate_per_s: float) -> Observation:
        return list(deployment.observe(rate_per_s, self.windows))[-1]
