"""The simulated cluster: its size, what its hops, threads and queues cost, and what it hides from a policy."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace

import numpy as np

from profiler.engines.simulated.noise import Preset
from profiler.engines.simulated.queueing import Spread
from profiler.errors import UsageError
from profiler.experiment.latency_rows import Floats
from profiler.job.topology import Element, Operator


@dataclass(frozen=True, slots=True)
class Hidden:
    """What no policy is told about one element."""

    load_factor: float = 1.0
    """True cost under full load over the uncontended one."""
    skew: float = 0.0
    """Share of the rows that one task gets beyond its even part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedPlatform:
    """Nodes × cores, and every cost that is not the operators' own."""

    nodes: int = 1
    cores_per_node: int = 2
    slots: int | None = None
    """Tasks that can run at once; None is four per core, as waiting tasks leave their core to others."""

    hop_cpu_ms: float = 0.002
    """CPU of handing one row to a task on the same node, half of it paid by the sender and half by the receiver."""
    remote_hop_cpu_ms: float = 0.008
    """CPU of handing one row to a task on another node."""
    hop_ms: float = 0.1
    """Time a row travels within a node; it delays rows but keeps no thread busy."""
    remote_hop_ms: float = 0.5

    switching: float = 0.05
    """CPU lost where many threads compete for the cores of a node: cost × (1 + switching · (1 − cores / threads))."""
    pull_per_s: float = 20_000.0
    """Rows one source task can pull at the most, where the source does not say."""
    queue_rows: int = 64
    """Rows that wait before one task at the most; then its upstream blocks."""
    service_spread: Spread = Spread.ERLANG
    """The way in which the time a row takes varies from row to row."""
    data_variation: float = 0.05
    """Coefficient of variation, over the workload, of the selectivity of workload-dependent operators."""

    first_warm_up_loss: float = 0.7
    """Part of the capacity that is missing when the engine's first deployment starts."""
    first_warm_up_s: float = 8.0
    """Time in which that loss falls to a third."""
    warm_up_loss: float = 0.2
    """Part of the capacity that is missing when a later deployment starts: the session is warm, the query is new."""
    warm_up_s: float = 2.5

    batch_cpu_ms: float = 0.0
    """CPU that every task takes per batch whatever its rows, before they are read: it starts, polls and commits."""
    batch_wait_ms: float = 0.0
    """Time that every task waits per batch whatever its rows."""
    batch_pause_s: float = 0.0
    """Time between two batches in which nothing is read, beside that CPU; what gathers is caught up."""

    load_error: float = 0.0
    """The part by which true costs under load are off the uncontended ones; the sign is drawn per operator."""
    hidden_skew: float = 0.0
    """Largest hidden share of a keyed operator's rows that go to one task; a quarter of it for the others."""
    inefficiency: float = 0.0
    """Growth of the cost of a row with every further task of its operator."""
    neighbour_cores: float = 0.0
    """Cores of every node that another program takes now and then; 0 where there is none."""

    def __post_init__(self) -> None:
        for field in ("nodes", "cores_per_node", "slots", "queue_rows"):
            value = getattr(self, field)
            if value is not None and value < 1:
                label = field.replace("_", " ")
                raise UsageError(f"The simulated platform has {value} {label}.", hint="It needs at least one.")

    @property
    def cores(self) -> int:
        """Cores over all nodes."""
        return self.nodes * self.cores_per_node

    @property
    def task_slots(self) -> int:
        """Slots as stated, or the default."""
        return 4 * self.cores if self.slots is None else self.slots

    def under(self, preset: Preset) -> SimulatedPlatform:
        """Return the platform as the preset makes it: quiet and shared ones leave it as it is."""
        if preset is Preset.DISTURBED:
            return replace(self, neighbour_cores=self.neighbour_cores or 0.5)
        if preset is Preset.BATCHED:
            return replace(self, batch_cpu_ms=40.0, batch_wait_ms=60.0, batch_pause_s=0.2)
        if preset is not Preset.HOSTILE:
            return self
        return replace(self, switching=3 * self.switching, load_error=0.15, hidden_skew=0.2, inefficiency=0.01)

    def pause_s(self, tasks_on_nodes: Floats) -> float:
        """Return how long nothing is read between two batches, with so many tasks on every node."""
        return self.batch_pause_s + float(tasks_on_nodes.max()) * self.batch_cpu_ms / 1000 / self.cores_per_node

    def hidden(self, element: Element, seed: int) -> Hidden:
        """Draw what the platform hides about one element, from the seed and the element's name alone."""
        if not isinstance(element, Operator):
            return Hidden()
        rng = np.random.default_rng([seed, zlib.crc32(element.name.encode())])
        sign = rng.choice((-1.0, 1.0))
        keyed = element.stateful or element.key is not None
        low, high = (0.25, 1.0) if keyed else (0.0, 0.25)
        return Hidden(1.0 + sign * self.load_error, self.hidden_skew * rng.uniform(low, high))
