"""A neighbour on the simulated cluster: another program that takes cores of every node now and then, in bursts.

It rests and works in turn, each for a time drawn around its mean, whatever is deployed: it knows the cluster's clock
and nothing else. While it works it has its cores, as a program has that wants fewer than its fair share.
"""

from __future__ import annotations

import numpy as np

_RESTS_S, _WORKS_S = 20.0, 10.0
"""Mean times of resting and working."""
_LEAST, _MOST = 0.5, 1.5
"""Ends of the range of a time, in parts of its mean."""


class Neighbour:
    """When a neighbour works; `cores` is what it takes of every node then."""

    def __init__(self, cores: float, rng: np.random.Generator) -> None:
        self._cores = cores
        self._rng = rng
        self._changes_s = [0.0]
        """Moments at which it began to rest, to work, to rest …, from the start on."""

    def taken_cores(self, start_s: float, end_s: float) -> float:
        """Return the cores of a node that it takes in a span of time, on average."""
        while self._changes_s[-1] < end_s:
            mean_s = _WORKS_S if len(self._changes_s) % 2 == 0 else _RESTS_S
            self._changes_s.append(self._changes_s[-1] + mean_s * self._rng.uniform(_LEAST, _MOST))
        begins, ends = self._changes_s[1::2], self._changes_s[2::2]
        begins_s, ends_s = np.array(begins[: len(ends)]), np.array(ends)
        if len(begins) > len(ends):
            begins_s, ends_s = np.append(begins_s, begins[-1]), np.append(ends_s, np.inf)
        worked_s = np.clip(np.minimum(ends_s, end_s) - np.maximum(begins_s, start_s), 0.0, None).sum()
        return self._cores * float(worked_s) / (end_s - start_s)
