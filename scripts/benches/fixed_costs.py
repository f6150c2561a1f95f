"""An engine whose tasks take CPU whether rows come or not, as pollers and batches do; nothing else is changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.experiment.engine import Deployment, Platform
from profiler.experiment.observation import Detail, Observation, OperatorWindow
from profiler.job.configuration import Configuration
from profiler.job.topology import Topology


@dataclass(slots=True)
class FixedCosts:
    """A simulated engine with fixed costs: an `experiment.engine.Engine`."""

    engine: SimulatedEngine
    cores_per_task: float
    machine_cores: float = 0.0
    """Cores that are in use on the machine beside the job's, by its broker and its generator."""

    @property
    def name(self) -> str:
        """The engine's name."""
        return self.engine.name

    @property
    def window_s(self) -> float:
        """Length of one window in seconds."""
        return self.engine.window_s

    @property
    def platform(self) -> Platform:
        """Slots, cores and versions."""
        return self.engine.platform

    def measure_speed_by(self, loop_s: float) -> None:
        """Give speed indices relative to this CPU time."""
        self.engine.measure_speed_by(loop_s)

    def slots_for(self, topology: Topology) -> int:
        """Return the slots that the tasks of this topology may use."""
        return self.engine.slots_for(topology)

    def deploy(
        self,
        topology: Topology,
        configuration: Configuration,
        detail: Detail,
        *,
        fused: bool = False,
        window_s: float | None = None,
    ) -> Deployment:
        """Start the topology with these tasks."""
        inner = self.engine.deploy(topology, configuration, detail, fused=fused, window_s=window_s)
        return _Deployment(inner, self)

    def close(self) -> None:
        """End everything the engine started."""
        self.engine.close()

    def with_them(self, seen: Observation) -> Observation:
        """Return a window with the fixed costs in it, as far as there are cores for them."""
        rows_s = sum(each.cpu_s for each in seen.operators.values())
        tasks = sum(each.tasks for each in seen.operators.values())
        most_s = max(0.0, (self.platform.cores - self.machine_cores) * seen.duration_s - rows_s)
        each_s = min(self.cores_per_task * seen.duration_s, most_s / tasks)
        operators = {name: _with_cpu(each, each_s, seen.duration_s) for name, each in seen.operators.items()}
        own_s = rows_s + tasks * each_s
        used = None if not self.machine_cores else own_s / seen.duration_s + self.machine_cores
        return replace(seen, operators=operators, cpu_s=seen.cpu_s + tasks * each_s, cores_used=used)


@dataclass(slots=True)
class _Deployment:
    inner: Deployment
    costs: FixedCosts

    def observe(self, rate_per_s: float, windows: int) -> Iterator[Observation]:
        for seen in self.inner.observe(rate_per_s, windows):
            yield self.costs.with_them(seen)

    def close(self) -> None:
        self.inner.close()


def _with_cpu(seen: OperatorWindow, each_s: float, duration_s: float) -> OperatorWindow:
    busiest_s = min(duration_s, seen.busiest_task_s + each_s)
    busy_s = min(seen.tasks * busiest_s, seen.busy_s + seen.tasks * each_s)
    return replace(seen, cpu_s=seen.cpu_s + seen.tasks * each_s, busy_s=busy_s, busiest_task_s=busiest_s)
