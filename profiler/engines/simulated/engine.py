"""The simulated engine: deploys configurations on a model of a cluster, and knows the truth about them.

It never knows which policy is asking, and no policy sees `truth`, `capacities`, `keeps` or `highest_rate`: they are not
part of the Engine protocol, but the yardstick of tests and benches.
"""

from __future__ import annotations

import weakref
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from profiler import __version__
from profiler.engines.simulated.batching import Batching
from profiler.engines.simulated.deployment import Clock, SimulatedDeployment, WarmUp
from profiler.engines.simulated.flow import Flow
from profiler.engines.simulated.latency import RowSampler, latency_of
from profiler.engines.simulated.neighbour import Neighbour
from profiler.engines.simulated.network import Network, compile_network
from profiler.engines.simulated.noise import NoiseProcess, Preset
from profiler.engines.simulated.placement import Ints, thread_roots
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.engines.simulated.steady_state import SteadyState
from profiler.errors import UsageError
from profiler.experiment.constraint import LatencyConstraint
from profiler.experiment.engine import Platform
from profiler.experiment.latency_rows import Floats
from profiler.experiment.observation import Detail, Latency
from profiler.job.configuration import Configuration
from profiler.job.topology import Topology
from profiler.report.words import counted

_BATCH = 1024
"""Configurations solved at once: few enough for their arrays to stay in the processor's cache."""
_TRUTH_ROWS = 500_000
"""Rows through all queues together, after as many that are thrown away."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What a configuration does without noise, warmed up, with average data."""

    throughput_per_s: float
    load: float
    """Part of the throughput at which the latency holds."""
    processing_ms: Latency


class SimulatedEngine:
    """A simulated cluster; the same seed and the same calls give the same windows."""

    name = "simulated"

    def __init__(
        self, platform: SimulatedPlatform, preset: Preset = Preset.QUIET, seed: int = 0, window_s: float = 3.0
    ) -> None:
        self.window_s = window_s
        self._platform, self._preset, self._seed = platform.under(preset), preset, seed
        self._clock = Clock()
        taken_cores = self._platform.neighbour_cores
        rng = np.random.default_rng([seed, zlib.crc32(b"neighbour")])
        self._neighbour = Neighbour(taken_cores, rng) if taken_cores > 0 else None
        self._deployed = 0
        self._running: weakref.WeakSet[SimulatedDeployment] = weakref.WeakSet()

    @property
    def platform(self) -> Platform:
        """Slots, cores and nodes of the simulated cluster."""
        size = self._platform
        versions = {"simulated": __version__, "preset": str(self._preset)}
        return Platform(size.task_slots, size.cores, size.nodes, versions)

    def measure_speed_by(self, loop_s: float) -> None:
        """Change nothing: speed indices are absolute here."""

    def slots_for(self, topology: Topology) -> int:  # noqa: ARG002 - every topology may use them all
        """Return the platform's slots."""
        return self._platform.task_slots

    def deploy(
        self,
        topology: Topology,
        configuration: Configuration,
        detail: Detail,
        *,
        fused: bool = False,
        window_s: float | None = None,
    ) -> SimulatedDeployment:
        """Start the topology with these tasks, with a random stream of its own."""
        network, platform = compile_network(topology, self._platform, self._seed), self._platform
        flow = self._flow(topology, network, network.selectivity, configuration, fused=fused)
        if flow.counts[0].sum() > platform.task_slots:
            raise UsageError(
                f"Configuration {configuration} of '{topology.name}' needs {flow.counts[0].sum()} slots, "
                f"the simulated platform has {platform.task_slots}.",
                hint="Give it more (--slots) or use fewer tasks.",
            )
        stream = np.random.SeedSequence(self._seed, spawn_key=(self._deployed,))
        noise_rng, rows_rng = (np.random.default_rng(child) for child in stream.spawn(2))
        cold = self._deployed == 0
        deployment = SimulatedDeployment(
            network,
            flow,
            platform,
            NoiseProcess(self._preset, noise_rng),
            rows_rng,
            detail=detail,
            window_s=window_s or self.window_s,
            offered_limit_per_s=configuration.offered_per_s,
            warm_up=WarmUp(platform.first_warm_up_loss, platform.first_warm_up_s)
            if cold
            else WarmUp(platform.warm_up_loss, platform.warm_up_s),
            clock=self._clock,
            neighbour=self._neighbour,
        )
        self._deployed += 1
        self._running.add(deployment)
        return deployment

    def close(self) -> None:
        """End all deployments."""
        for deployment in self._running:
            deployment.close()

    def truth(
        self, topology: Topology, configuration: Configuration, load: float = 0.9, *, fused: bool = False
    ) -> Truth:
        """Return the noise-free throughput, and the processing latency at this part of it while sources read."""
        network, flow = self._on_average(topology, configuration, fused=fused)
        capacity = flow.capacities()
        rate = load * capacity
        rng = np.random.default_rng(0)
        sampler = RowSampler(network, flow, rate[0], self._platform, rng, rows=20_000, queued_rows=_TRUTH_ROWS)
        busy, rates = flow.state(rate).busy[0], flow.task_rates(rate)[0]
        nothing_full = np.zeros(busy.shape, dtype=np.bool_)
        for _ in range(2):
            rows_ms = sampler.rows_ms(busy, rates, nothing_full)
        reading_part = Batching.of(self._platform, flow, self.window_s).reading_part
        return Truth(float(capacity[0]) * reading_part, load, latency_of(rows_ms))

    def keeps(
        self,
        topology: Topology,
        configuration: Configuration,
        rate_per_s: float,
        constraint: LatencyConstraint,
        *,
        fused: bool = False,
        batch_s: float | None = None,
    ) -> bool:
        """Tell whether the latency constraint is kept and the queue does not grow at this rate, without noise."""
        steady = self._steady(topology, configuration, fused=fused, batch_s=batch_s)
        return rate_per_s <= steady.highest_per_s and steady.keeps(rate_per_s, constraint)

    def highest_rate(
        self,
        topology: Topology,
        configuration: Configuration,
        constraint: LatencyConstraint,
        *,
        fused: bool = False,
        batch_s: float | None = None,
    ) -> float:
        """Return the highest rate that `keeps` the constraint, to 0.1 %; 0 where none does.

        Batches are as long as the engine's windows, unless `batch_s` says otherwise.
        """
        return self._steady(topology, configuration, fused=fused, batch_s=batch_s).highest_rate(constraint)

    def capacities(self, topology: Topology, counts: Ints) -> Floats:
        """Return the noise-free throughput of many configurations: rows of tasks per element, in topology order.

        It is that of the time in which sources read: no pause between batches is taken off.
        """
        network = compile_network(topology, self._platform, self._seed)
        average = network.selectivity.mean(axis=0, keepdims=True)
        threads = np.arange(len(network.names))
        batches = (counts[start : start + _BATCH] for start in range(0, len(counts), _BATCH))
        return np.concatenate(
            [Flow(network, self._platform, threads, batch, average).capacities() for batch in batches]
        )

    def _steady(
        self, topology: Topology, configuration: Configuration, *, fused: bool, batch_s: float | None
    ) -> SteadyState:
        network, flow = self._on_average(topology, configuration, fused=fused)
        return SteadyState.of(network, flow, self._platform, batch_s or self.window_s)

    def _on_average(self, topology: Topology, configuration: Configuration, *, fused: bool) -> tuple[Network, Flow]:
        """Return the topology and its flow with average data."""
        network = compile_network(topology, self._platform, self._seed)
        average = network.selectivity.mean(axis=0, keepdims=True)
        return network, self._flow(topology, network, average, configuration, fused=fused)

    def _flow(
        self,
        topology: Topology,
        network: Network,
        selectivity: Floats,
        configuration: Configuration,
        *,
        fused: bool,
    ) -> Flow:
        """Build the flow of one configuration, with a case per row of selectivities."""
        tasks = configuration.tasks
        _check_tasks(topology, tasks)
        roots = thread_roots(topology, tasks, fused=fused)
        names = [name for name in topology.names if name in roots]
        threads = np.array([names.index(root) for root in roots])
        counts = np.array([[tasks[name] for name in names]] * len(selectivity))
        return Flow(network, self._platform, threads, counts, selectivity)


def _check_tasks(topology: Topology, tasks: Mapping[str, int]) -> None:
    missing = [name for name in topology.names if name not in tasks]
    if missing:
        raise UsageError(
            f"The configuration says nothing of {', '.join(missing)} of '{topology.name}'.",
            hint="Give every source and operator a number of tasks.",
        )
    unknown = [name for name in tasks if name not in topology]
    if unknown:
        raise UsageError(
            f"The configuration names {', '.join(unknown)}, which '{topology.name}' does not have.",
            hint=f"It has {', '.join(topology.names)}.",
        )
    for element in topology:
        count = tasks[element.name]
        if count < 1 or (count > 1 and not element.parallel):
            allowed = "at least one" if element.parallel else "exactly one (parallel=False)"
            raise UsageError(
                f"The configuration gives '{element.name}' {counted(count, 'task')}.", hint=f"It takes {allowed}."
            )
