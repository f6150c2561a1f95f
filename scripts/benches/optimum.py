"""The noise-free optimum of the simulated engine: the whole grid where it is small, else an optimiser."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.job.topology import Topology

Counts = NDArray[np.int64]


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
        _climbed(engine, topology, _random_start(rng, lows, highs, slots), lows, highs, slots) for _ in range(starts)
    )


def _climbed(
    engine: SimulatedEngine, topology: Topology, counts: Counts, lows: list[int], highs: list[int], slots: int
) -> float:
    value = float(engine.capacities(topology, counts[None, :])[0])
    while True:
        near = _neighbours(counts, lows, highs, slots)
        values = engine.capacities(topology, near)
        best = int(np.argmax(values))
        if values[best] <= value * (1 + 1e-9):
            return value
        counts, value = near[best], float(values[best])


def _neighbours(counts: Counts, lows: list[int], highs: list[int], slots: int) -> Counts:
    """Return all configurations with up to two elements changed by up to two tasks."""
    size = len(counts)
    changes = [np.zeros(size, dtype=np.int64)]
    for one, other in itertools.product(range(size), repeat=2):
        for first, second in itertools.product((-2, -1, 1, 2), (-2, -1, 0, 1, 2)):
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
