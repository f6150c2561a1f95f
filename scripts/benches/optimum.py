"""The noise-free optimum of the simulated engine: the whole grid where it is small, else an optimiser."""

from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.experiment.constraint import LatencyConstraint
from profiler.job.configuration import Configuration
from profiler.job.topology import Topology

Counts = NDArray[np.int64]

_LARGEST_GRID = 20_000
_MOST_LOOKS = 200
"""The most configurations, and of these the most that may hold more, that are all looked at for the highest rate."""
_STARTS = 2
_BETTER = 1.001
"""Times the best rate so far that a configuration has to hold to be taken for a better one."""


def exhaustive_optimum(engine: SimulatedEngine, topology: Topology, slots: int) -> float:
    """Return the highest noise-free throughput of all configurations that fit the slots."""
    return float(engine.capacities(topology, grid(topology, slots)).max())


def grid(topology: Topology, slots: int) -> Counts:
    """Return every configuration within the elements' bounds and the slots, one per row."""
    lows, highs = _bounds(topology, slots)
    rows = np.zeros((1, 0), dtype=np.int64)
    for position, (low, high) in enumerate(zip(lows, highs, strict=True)):
        choices = np.arange(low, high + 1)
        rows = np.column_stack([np.repeat(rows, len(choices), axis=0), np.tile(choices, len(rows))])
        rows = rows[rows.sum(axis=1) + sum(lows[position + 1 :]) <= slots]
    return rows


def searched_optimum(engine: SimulatedEngine, topology: Topology, slots: int, seed: int = 0, starts: int = 6) -> float:
    """Return the best of several hill climbs over additions, removals and exchanges, for large DAGs."""
    lows, highs = _bounds(topology, slots)
    rng = np.random.default_rng(seed)
    return max(
        _climbed(engine, topology, _random_start(rng, lows, highs, slots), lows, highs, slots)[1] for _ in range(starts)
    )


def highest_held_rate(
    engine: SimulatedEngine, topology: Topology, slots: int, constraint: LatencyConstraint, batch_s: float
) -> float:
    """Return the highest noise-free rate of any configuration that keeps the constraint in batches of this length.

    None holds more than its throughput, so they are gone through from the fastest on, until no other can hold more.
    """
    held = _Held(engine, topology, constraint, batch_s)
    lows, highs = _bounds(topology, slots)
    if math.comb(slots - sum(lows) + len(lows), len(lows)) <= _LARGEST_GRID:
        held.look_at(grid(topology, slots), most=_MOST_LOOKS)
        if held.looks < _MOST_LOOKS:
            return held.best_per_s
    rng = np.random.default_rng(0)
    for _ in range(_STARTS):
        start = _random_start(rng, lows, highs, slots)
        fastest, _ = _climbed(engine, topology, start, lows, highs, slots)
        held.climb(fastest, lows, highs, slots)
    held.climb(np.array(lows, dtype=np.int64), lows, highs, slots)
    return held.best_per_s


class _Held:
    """The best configuration so far by the rate that it holds."""

    def __init__(
        self, engine: SimulatedEngine, topology: Topology, constraint: LatencyConstraint, batch_s: float
    ) -> None:
        self.best_per_s = 0.0
        self.looks = 0
        self._engine, self._topology, self._constraint, self._batch_s = engine, topology, constraint, batch_s

    def look_at(self, configurations: Counts, most: int | None = None) -> Counts | None:
        """Return the last of these configurations that is better than all before it, if one is."""
        limits = self._engine.capacities(self._topology, configurations)
        best = None
        for place in np.argsort(-limits)[:most]:
            if limits[place] < self.best_per_s * _BETTER:
                break
            self.looks += 1
            counts = configurations[place]
            if self._is_better(counts):
                best = counts
        return best

    def climb(self, counts: Counts, lows: list[int], highs: list[int], slots: int) -> None:
        """Go from one configuration to better ones near it, as long as there are any."""
        self.look_at(counts[None, :])
        near: Counts | None = counts
        while near is not None:
            near = self.look_at(_neighbours(near, lows, highs, slots, most=1))

    def _is_better(self, counts: Counts) -> bool:
        configuration = Configuration.of(dict(zip(self._topology.names, map(int, counts), strict=True)))
        wanted_per_s = self.best_per_s * _BETTER
        asked = (self._topology, configuration)
        keeps = partial(self._engine.keeps, constraint=self._constraint, batch_s=self._batch_s)
        if wanted_per_s > 0 and not keeps(*asked, wanted_per_s):
            return False
        found_per_s = self._engine.highest_rate(*asked, self._constraint, batch_s=self._batch_s)
        is_better = found_per_s > self.best_per_s
        self.best_per_s = max(self.best_per_s, found_per_s)
        return is_better


def _climbed(
    engine: SimulatedEngine, topology: Topology, counts: Counts, lows: list[int], highs: list[int], slots: int
) -> tuple[Counts, float]:
    value = float(engine.capacities(topology, counts[None, :])[0])
    while True:
        near = _neighbours(counts, lows, highs, slots)
        values = engine.capacities(topology, near)
        best = int(np.argmax(values))
        if values[best] <= value * (1 + 1e-9):
            return counts, value
        counts, value = near[best], float(values[best])


def _neighbours(counts: Counts, lows: list[int], highs: list[int], slots: int, most: int = 2) -> Counts:
    """Return all configurations with up to two elements changed by that many tasks at the most."""
    size = len(counts)
    changes = [np.zeros(size, dtype=np.int64)]
    steps = range(-most, most + 1)
    for one, other in itertools.product(range(size), repeat=2):
        for first, second in itertools.product(steps, steps):
            change = np.zeros(size, dtype=np.int64)
            change[one] += first
            change[other] += second
            changes.append(change)
    near = np.unique(counts + np.array(changes), axis=0)
    fits = (near >= lows).all(axis=1) & (near <= highs).all(axis=1) & (near.sum(axis=1) <= slots)
    return near[fits]


def _random_start(rng: np.random.Generator, lows: list[int], highs: list[int], slots: int) -> Counts:
    counts = np.array(lows, dtype=np.int64)
    for _ in range(rng.integers(0, slots - counts.sum() + 1)):
        open_places = [place for place, high in enumerate(highs) if counts[place] < high]
        if not open_places:
            break
        counts[rng.choice(open_places)] += 1
    return counts


def _bounds(topology: Topology, slots: int) -> tuple[list[int], list[int]]:
    lows = [element.min_tasks for element in topology]
    highs = [min(slots, element.max_tasks or slots) if element.parallel else 1 for element in topology]
    return lows, highs
