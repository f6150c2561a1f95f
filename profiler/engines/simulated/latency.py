"""Latency from sampled rows that walk the DAG: queue and service at every task, hops between them.

Every group of like tasks (a kind of thread on a node) has one queue that is simulated row by row (queueing.py) and
goes on where the last window left it. A sampled row meets, per operator, one row of one such queue, as often as rows
really go there. Fan-in takes its rows from its inputs in proportion to what they send; the ends of the DAG likewise.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from profiler.engines.simulated.flow import Flow
from profiler.engines.simulated.network import Network
from profiler.engines.simulated.placement import Ints
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.engines.simulated.queueing import queue_waits
from profiler.experiment.latency_rows import Floats
from profiler.experiment.observation import Latency
from profiler.experiment.quantiles import QUANTILES


class RowSampler:
    """Sampled rows of one deployment; `rows` walk the DAG per window, `queued_rows` pass all queues together."""

    def __init__(
        self,
        network: Network,
        flow: Flow,
        rate_per_s: float,
        platform: SimulatedPlatform,
        rng: np.random.Generator,
        *,
        rows: int = 512,
        queued_rows: int = 6000,
    ) -> None:
        placement = flow.placement
        self._network, self._flow, self._platform, self._rng, self._rows = network, flow, platform, rng, rows
        self.kinds, self.on_node = np.nonzero(placement.tasks[0] > 0)
        self._thread = placement.thread_of[self.kinds]
        self._depth = max(64, queued_rows // len(self.kinds))
        self._wait_s = np.zeros(len(self.kinds))
        sources = flow.threads[network.source_share > 0]
        self._at_source = np.isin(self._thread, sources)
        self._thread_at_source = np.isin(np.arange(flow.counts.shape[1]), sources)
        weights = placement.share[0, self.kinds] * placement.tasks[0, self.kinds, self.on_node]
        self._queue_of = np.stack(
            [self._deal(weights * (self._thread == thread)) for thread in range(flow.counts.shape[1])]
        )
        rows_out = flow.rows_out.at(np.full(len(flow.counts), rate_per_s))[0]
        self._input_of = [
            np.array(inputs)[self._deal(rows_out[list(inputs)])] if inputs else np.zeros(rows, dtype=np.int64)
            for inputs in network.inputs
        ]
        self._hop_s = [self._hops(element) for element in range(len(network.names))]
        ends = np.setdiff1d(np.arange(len(network.names)), network.before)
        self._end_of = ends[self._deal(rows_out[ends])]

    def _deal(self, weights: Floats) -> Ints:
        """Give every sampled row one index, as often as the weights say, in random order."""
        reached = np.cumsum(weights) / weights.sum()
        positions = (np.arange(self._rows) + 0.5) / self._rows
        return self._rng.permutation(np.searchsorted(reached, positions))

    def _hops(self, element: int) -> Floats:
        """Time every sampled row travels before it reaches this element."""
        hop_s = np.zeros(self._rows)
        for edge in np.flatnonzero(self._network.after == element):
            crosses = self._rng.random(self._rows) < self._flow.crossing[0, edge]
            took = np.where(crosses, self._platform.remote_hop_ms, self._platform.hop_ms) / 1000
            hop_s = np.where(self._input_of[element] == self._network.before[edge], took, hop_s)
        return hop_s

    def rows_ms(self, busy: Floats, rate_per_s: Floats, full: npt.NDArray[np.bool_]) -> Floats:
        """Return the processing latency of sampled rows, in random order, of a time in which nothing changes.

        Per kind of thread and node: the part of the time a task is busy, whether its queue is full; per kind: the
        rows it gets per second.
        """
        rates = rate_per_s[self.kinds]
        service_s = busy[self.kinds, self.on_node] / rates
        full = full[self.kinds, self.on_node]
        limit_s = np.where(self._at_source, np.inf, self._platform.queue_rows * np.where(full, 1 / rates, service_s))
        shape = (len(rates), self._depth)
        services = self._platform.service_spread.draw(self._rng, shape) * service_s[:, None]
        gaps = self._rng.standard_exponential(shape) / rates[:, None]
        waits, self._wait_s = queue_waits(gaps, services, np.minimum(self._wait_s, limit_s), limit_s)
        # Rows before a blocked source are the backlog, which is accounted for apart.
        held = np.where(self._at_source, 0.0, limit_s)[full]
        waits[full], self._wait_s[full] = held[:, None], held
        return self._walk(waits, services)

    def _walk(self, waits: Floats, services: Floats) -> Floats:
        """Send the sampled rows down the DAG."""
        threads, columns = self._flow.threads, np.arange(self._rows)
        position = self._rng.integers(0, self._depth, self._queue_of.shape)
        wait, stay = waits[self._queue_of, position], services[self._queue_of, position]
        stay[~self._thread_at_source] += wait[~self._thread_at_source]
        times = np.empty((len(threads), self._rows))
        for element, inputs in enumerate(self._network.inputs):
            thread = threads[element]
            if not inputs:
                times[element] = stay[thread]
            elif threads[inputs[0]] == thread:
                times[element] = times[inputs[0]]
            else:
                came = times[inputs[0]] if len(inputs) == 1 else times[self._input_of[element], columns]
                times[element] = came + (self._hop_s[element] + stay[thread])
        return np.asarray(1000 * times[self._end_of, columns])


def latency_of(rows_ms: Floats) -> Latency:
    """Return the distribution of sampled rows."""
    return Latency(float(rows_ms.mean()), *map(float, np.quantile(rows_ms, QUANTILES)))
