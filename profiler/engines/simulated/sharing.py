"""Processor sharing: the cores of a node, divided fairly among the threads that have work for them.

A thread that needs d cores (CPU seconds per second) is *runnable* a larger part b of the time, because it shares the
K cores with the other runnable threads, R - b of them on average (a mean-field closure):

    b = d · max(1, q · (1 + R - b) / K) = max(d, d·q·(1 + R) / (K + d·q)),    R = sum of b over the node's threads

q ≥ 1 is the CPU lost by switching, where there are more threads than cores. Waiting takes no core: a thread that
waits w of the time keeps up with its rows as long as b + w ≤ 1. Equal threads that only compute use all K / q cores;
of four that compute and wait half of the time each, two cores carry 85 % of what they would without contention.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from profiler.experiment.latency_rows import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """The nodes as their threads find them."""

    tasks: Floats
    """Tasks per kind of thread and node: cases × kinds × nodes."""
    cores: float
    """Cores per node."""
    switching: Floats
    """The factor q: cases × nodes."""

    @classmethod
    def of(cls, tasks: Floats, cores: float, switching: float) -> Nodes:
        """Derive each node's switching loss from its number of threads."""
        threads = tasks.sum(axis=1)
        return cls(tasks, cores, 1.0 + switching * np.maximum(0.0, 1.0 - cores / np.maximum(threads, 1.0)))

    def keep_up(self, cpu: Floats, wait: Floats) -> npt.NDArray[np.bool_]:
        """Tell for every case whether all threads keep up with this need of cores and waiting (cases × kinds).

        Let R* be the most runnable threads at which every thread still has b + w ≤ 1. The sum of b at R* falls short
        of R* exactly where the fixed point lies below R*: its slope, the sum of d·q / (K + d·q), is at most
        R / (1 + R) < 1 from the fixed point on. So one evaluation decides, without solving for R.
        """
        need = np.maximum(cpu[:, :, None] * self.switching[:, None, :], 1e-12)
        limit = (1.0 - wait)[:, :, None] * (self.cores + need) / need - 1.0
        limit[self.tasks <= 0] = np.inf
        most = np.minimum(limit.min(axis=1), self.tasks.sum(axis=1))
        runnable = np.maximum(cpu[:, :, None], need * (1.0 + most)[:, None, :] / (self.cores + need))
        alone = ((cpu + wait <= 1.0) | (self.tasks <= 0).all(axis=2)).all(axis=1)
        return np.asarray(alone & ((self.tasks * runnable).sum(axis=1) <= most + 1e-12).all(axis=1))

    def runnable(self, cpu: Floats) -> Floats:
        """Solve for the part of the time each kind of thread is runnable: cases × kinds × nodes.

        Newton's method from below: the sum of b is convex and piecewise linear in R, so it ends after one step per
        kind at the most.
        """
        need = cpu[:, :, None] * self.switching[:, None, :]
        slope = need / (self.cores + need)
        total = (self.tasks * cpu[:, :, None]).sum(axis=1)
        for _ in range(cpu.shape[1] + 1):
            stretched = slope * (1.0 + total)[:, None, :]
            busy = np.maximum(cpu[:, :, None], stretched)
            gap = (self.tasks * busy).sum(axis=1) - total
            if (gap <= 1e-9).all():
                break
            steepness = (self.tasks * slope * (stretched >= cpu[:, :, None])).sum(axis=1)
            total = total + np.maximum(gap, 0.0) / np.maximum(1.0 - steepness, 1e-6)
        return np.asarray(np.minimum(busy, 1.0))
