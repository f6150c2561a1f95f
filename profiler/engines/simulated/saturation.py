"""What a configuration does at its limit: its capacity, which queues are full, how long they take to drain.

At saturation the busiest tasks work all the time. Their queues are full, and so, by back-pressure, are those of every
thread upstream of them. What lies beside or behind the bottleneck starves instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from profiler.engines.simulated.flow import Flow, ThreadState
from profiler.engines.simulated.network import Network
from profiler.experiment.latency_rows import Floats

_ALWAYS_BUSY = 0.999


@dataclass(frozen=True, slots=True, eq=False)
class Saturation:
    """The limit of every case of a flow."""

    capacity_per_s: Floats
    state: ThreadState
    full: npt.NDArray[np.bool_]
    """Whether the queues of a kind of thread on a node are full: cases × kinds × nodes."""
    buffered_s: Floats
    """Time the full queues take to drain, along the path that holds most."""

    @classmethod
    def of(cls, network: Network, flow: Flow, queue_rows: int) -> Saturation:
        """Find the limit of every case and what is full there."""
        capacity = flow.capacities()
        state = flow.state(capacity)
        always_busy = (state.busy >= _ALWAYS_BUSY) & (flow.placement.tasks > 0)
        holds_up = np.zeros(flow.counts.shape, dtype=np.bool_)
        for kind, thread in enumerate(flow.placement.thread_of):
            holds_up[:, thread] |= always_busy[:, kind].any(axis=1)
        edges = [
            (before, after)
            for before, after in zip(flow.threads[network.before], flow.threads[network.after], strict=True)
            if before != after
        ]
        held_up = np.zeros_like(holds_up)
        for before, after in reversed(edges):
            held_up[:, before] |= holds_up[:, after] | held_up[:, after]
        full = always_busy | held_up[:, flow.placement.thread_of, None]

        kind_drain_s = queue_rows / flow.task_rates(capacity) * full.any(axis=2)
        drain_s = np.zeros(flow.counts.shape)
        for kind, thread in enumerate(flow.placement.thread_of):
            drain_s[:, thread] = np.maximum(drain_s[:, thread], kind_drain_s[:, kind])
        drain_s[:, flow.threads[network.source_share > 0]] = 0.0
        path_s = drain_s.copy()
        for before, after in edges:
            path_s[:, after] = np.maximum(path_s[:, after], path_s[:, before] + drain_s[:, after])
        return cls(capacity, state, full, path_s.max(axis=1))
