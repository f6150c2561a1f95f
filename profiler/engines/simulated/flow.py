"""Steady flow through the DAG: rows on every edge, load on every thread, and the most a configuration can carry.

Back-pressure lets a full queue block its upstream, up to the sources, so what flows in the long run is the largest
rate that every task sustains. Rows and loads are affine in the offered rate x: fan-out copies every row to every
consumer, fan-in unites; logic-dependent operators emit a constant rate whatever comes in.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np

from profiler.engines.simulated.network import Network
from profiler.engines.simulated.placement import Ints, Placement, place
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.engines.simulated.sharing import Nodes
from profiler.experiment.latency_rows import Floats

_BISECTIONS = 24
_TIMER_LIMIT = 0.5
"""A timer that finds its consumers too busy skips turns: it takes half a task or half a core of a node at the most."""


@dataclass(frozen=True, slots=True, eq=False)
class Affine:
    """A quantity per element (cases × elements) as a function of the offered rate: slope · x + constant."""

    slope: Floats
    constant: Floats

    def at(self, rate_per_s: Floats) -> Floats:
        """Evaluate at one rate per case."""
        return self.slope * rate_per_s[:, None] + self.constant


@dataclass(frozen=True, slots=True, eq=False)
class ThreadState:
    """What the threads do at some rate, per case."""

    busy: Floats
    """Part of the time one task of a kind works or waits inside its operator: cases × kinds × nodes."""
    cpu: Floats
    """Cores one task of a kind uses, switching included: cases × kinds × nodes."""
    element_part: Floats
    """Part of its thread's work that an element accounts for (1 unless fused): cases × elements."""
    own: Floats
    """Part of an element's CPU that its rows cost, not the hops before and after it: cases × elements."""
    waiting: Floats
    """Tasks of an element that wait inside it, on average: cases × elements."""


class Flow:
    """A batch of cases: configurations (tasks per thread) crossed with selectivities."""

    def __init__(
        self, network: Network, platform: SimulatedPlatform, threads: Ints, counts: Ints, selectivity: Floats
    ) -> None:
        self.threads = threads
        """Thread of every element."""
        self.counts = counts
        self._network = network
        self._roots = np.array([int(np.argmax(threads == thread)) for thread in range(counts.shape[1])])
        self.placement: Placement = place(counts, network.hot_share[self._roots], platform.nodes)
        self._platform = platform
        self.nodes = self._nodes(taken_cores=0.0)
        self.crossing = self.placement.crossing(threads[network.before], threads[network.after])
        """Part of the rows of every edge that leaves its node: cases × edges."""
        self.rows_in, self.rows_out = _rows(network, np.broadcast_to(selectivity, (len(counts), len(threads))))
        self._cpu, self._wait, self._own_cpu = self._loads(platform)
        self._skip_turns()

    def beside(self, taken_cores: float) -> Flow:
        """Return the same flow where a neighbour takes so many cores of every node."""
        other = copy.copy(self)
        other.nodes = self._nodes(taken_cores)
        return other

    def _nodes(self, taken_cores: float) -> Nodes:
        cores, switching = self._platform.cores_per_node - taken_cores, self._platform.switching
        return Nodes.of(self.placement.tasks, cores, switching)

    def _loads(self, platform: SimulatedPlatform) -> tuple[Affine, Affine, Affine]:
        """CPU seconds (hops included), waiting seconds, and CPU seconds without hops, each per second and element."""
        network = self._network
        tasks = self.counts[:, self.threads]
        growth = 1.0 + platform.inefficiency * (tasks - 1)
        apart = self.threads[network.before] != self.threads[network.after]
        extra_ms = platform.remote_hop_cpu_ms - platform.hop_cpu_ms
        hop_s = apart * (platform.hop_cpu_ms + extra_ms * self.crossing) / 1000
        ends = np.zeros((len(network.before), len(self.threads)))
        edges = np.arange(len(network.before))
        ends[edges, network.before] += 0.5
        ends[edges, network.after] += 0.5

        def load(rows_in: Floats, rows_out: Floats) -> tuple[Floats, Floats, Floats]:
            hops, own = (rows_out[:, network.before] * hop_s) @ ends, rows_in * network.cpu_s * growth
            return own + hops, rows_in * network.wait_s * growth, own

        slopes = load(self.rows_in.slope, self.rows_out.slope)
        constants = load(self.rows_in.constant, self.rows_out.constant)
        cpu, wait, own = (Affine(slope, constant) for slope, constant in zip(slopes, constants, strict=True))
        return cpu, wait, own

    def _skip_turns(self) -> None:
        """Lower what timers emit until it fits beside the stream."""
        cpu, wait = self._per_task(self._cpu.constant), self._per_task(self._wait.constant)
        used = (self.placement.tasks.max(axis=2) > 0) * (cpu + wait)
        core = (self.placement.tasks * cpu[:, :, None]).sum(axis=1)
        most = np.maximum(used.max(axis=1), core.max(axis=1))
        kept = np.minimum(1.0, _TIMER_LIMIT / np.maximum(most, 1e-12))[:, None]
        self.rows_in = Affine(self.rows_in.slope, self.rows_in.constant * kept)
        self.rows_out = Affine(self.rows_out.slope, self.rows_out.constant * kept)
        self._cpu = Affine(self._cpu.slope, self._cpu.constant * kept)
        self._wait = Affine(self._wait.slope, self._wait.constant * kept)
        self._own_cpu = Affine(self._own_cpu.slope, self._own_cpu.constant * kept)

    def _per_thread(self, element_load: Floats) -> Floats:
        """Sum over the elements of every thread: cases × threads."""
        if len(self.threads) == self.counts.shape[1]:
            return element_load
        return np.asarray(element_load @ (self.threads[:, None] == np.arange(self.counts.shape[1])))

    def _per_task(self, element_load: Floats) -> Floats:
        """Load of one task of every kind: cases × kinds."""
        return self._per_thread(element_load)[:, self.placement.thread_of] * self.placement.share

    def _element_loads(self, rate_per_s: Floats) -> tuple[Floats, Floats]:
        """CPU and waiting per element; the true cost departs from the uncontended one as its tasks fill up."""
        cpu, wait = self._cpu.at(rate_per_s), self._wait.at(rate_per_s)
        fill = np.minimum(1.0, (cpu + wait) / self.counts[:, self.threads])
        under_load = 1.0 + (self._network.load_factor - 1.0) * fill
        return cpu * under_load, wait * under_load

    def capacities(self) -> Floats:
        """Return the largest offered rate of every case that all its tasks sustain, by bisection."""
        low, high = np.zeros(len(self.counts)), self._bounds()
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            cpu, wait = self._element_loads(middle)
            fits = self.nodes.keep_up(self._per_task(cpu), self._per_task(wait))
            low, high = np.where(fits, middle, low), np.where(fits, high, middle)
        return low

    def _bounds(self) -> Floats:
        """Return rates that are certainly not exceeded: by any task alone, by all cores together, by any pull."""
        cheapest = min(1.0, float(self._network.load_factor.min()))
        cores = self.nodes.cores * self.placement.tasks.shape[2]
        with np.errstate(divide="ignore"):
            alone = 1.0 / (self._per_task(self._cpu.slope + self._wait.slope) * cheapest)
            alone[self.placement.tasks.max(axis=2) <= 0] = np.inf
            together = cores / (self._cpu.slope.sum(axis=1) * cheapest)
            pulls = (self._network.pull_per_s * self.counts[:, self.threads] / self.rows_in.slope).min(axis=1)
        return np.asarray(np.minimum(np.minimum(alone.min(axis=1), together), pulls))

    def task_rates(self, rate_per_s: Floats) -> Floats:
        """Return the rows that one task of every kind gets per second, at one offered rate per case."""
        return self.rows_in.at(rate_per_s)[:, self._roots[self.placement.thread_of]] * self.placement.share

    def state(self, rate_per_s: Floats) -> ThreadState:
        """Solve what every thread does at one rate per case, none of them above capacity."""
        element_cpu, element_wait = self._element_loads(rate_per_s)
        cpu, wait = self._per_task(element_cpu), self._per_task(element_wait)
        runnable = self.nodes.runnable(cpu)
        switching = (self.nodes.switching - 1.0)[:, None, :] * (1.0 - cpu[:, :, None] / np.maximum(runnable, 1e-12))
        pulled = self.rows_in.at(rate_per_s) / (self._network.pull_per_s * self.counts[:, self.threads])
        pulling = self._per_thread(pulled)[:, self.placement.thread_of, None]
        busy = np.maximum(runnable + wait[:, :, None], pulling)
        work = element_cpu + element_wait
        part = work / self._per_thread(work)[:, self.threads]
        own = self._own_cpu.at(rate_per_s) / np.maximum(self._cpu.at(rate_per_s), 1e-12)
        return ThreadState(np.minimum(busy, 1.0), cpu[:, :, None] * (1.0 + switching), part, own, element_wait)


def _rows(network: Network, selectivity: Floats) -> tuple[Affine, Affine]:
    """Follow the rows downstream: into and out of every element."""
    shape = selectivity.shape
    in_slope, in_constant = np.zeros(shape), np.zeros(shape)
    out_slope, out_constant = np.zeros(shape), np.zeros(shape)
    for element, inputs in enumerate(network.inputs):
        in_slope[:, element] = network.source_share[element] + out_slope[:, list(inputs)].sum(axis=1)
        in_constant[:, element] = out_constant[:, list(inputs)].sum(axis=1)
        if network.logic[element]:
            out_constant[:, element] = network.emits_per_s[element]
        else:
            out_slope[:, element] = in_slope[:, element] * selectivity[:, element]
            out_constant[:, element] = in_constant[:, element] * selectivity[:, element]
    return Affine(in_slope, in_constant), Affine(out_slope, out_constant)
