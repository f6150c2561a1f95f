"""Where tasks run: dealt over the nodes one after the other, so that neighbours in the DAG mostly sit apart.

A *thread* runs one element, or several that are fused. Its tasks are alike, except that a skewed element's first
task, the hot one, gets more rows: both are *kinds* of thread. Arrays are over cases × kinds × nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from profiler.experiment.latency_rows import Floats
from profiler.job.topology import Operator, Topology

Ints = npt.NDArray[np.int64]


def thread_roots(topology: Topology, tasks: Mapping[str, int], *, fused: bool) -> tuple[str, ...]:
    """Name, for every element, the element whose thread it runs in: its own unless fused.

    Fused as written, an operator runs inside its upstream's task where the edge is one to one and it keeps no state;
    where other tasks are stated for it than its upstream has, the job shuffles there, so it does not.
    """
    roots = {source.name: source.name for source in topology.sources}
    for operator in topology.operators:
        upstream = roots[operator.inputs[0]]
        joins = fused and _one_to_one(topology, operator) and not operator.stateful
        if joins and (operator.tasks is not None or not operator.parallel):
            joins = tasks[operator.name] == tasks[upstream]
        roots[operator.name] = upstream if joins else operator.name
    return tuple(roots[name] for name in topology.names)


def _one_to_one(topology: Topology, operator: Operator) -> bool:
    return len(operator.inputs) == 1 and len(topology.successors(operator.inputs[0])) == 1


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """Tasks of every kind of thread on every node."""

    thread_of: Ints
    """Thread of each kind."""
    share: Floats
    """Part of its thread's rows that one task of the kind gets: cases × kinds."""
    tasks: Floats
    """Tasks per node: cases × kinds × nodes."""
    rows_on: Floats
    """Part of a thread's rows handled per node: cases × threads × nodes."""

    def crossing(self, before: Ints, after: Ints) -> Floats:
        """Return the part of the rows between these pairs of threads that leaves its node: cases × pairs."""
        stays = np.einsum("cen,cen->ce", self.rows_on[:, before], self.rows_on[:, after])
        return np.asarray(1.0 - stays)


def place(counts: Ints, hot_share: Floats, nodes: int) -> Placement:
    """Deal the tasks of every thread (cases × threads) over the nodes, round robin, thread after thread."""
    threads = counts.shape[1]
    first = (np.cumsum(counts, axis=1) - counts)[:, :, None]
    distance = (np.arange(nodes) - first) % nodes
    per_node = counts[:, :, None] // nodes + (distance < (counts % nodes)[:, :, None])
    skewed = np.flatnonzero(hot_share > 0)
    is_first = (distance == 0)[:, skewed]
    even = (1.0 - hot_share) / counts
    regular = per_node.astype(np.float64)
    regular[:, skewed] -= is_first
    tasks = np.concatenate((regular, is_first.astype(np.float64)), axis=1)
    share = np.concatenate((even, (even + hot_share)[:, skewed]), axis=1)
    thread_of = np.concatenate((np.arange(threads), skewed))
    rows_on = even[:, :, None] * per_node
    rows_on[:, skewed] += hot_share[skewed][None, :, None] * is_first
    return Placement(thread_of, share, tasks, rows_on)
