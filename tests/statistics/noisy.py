"""Builders of noisy windows: first-order autoregression with drift between runs, as seen on shared machines."""

from __future__ import annotations

import numpy as np

from profiler.engines.simulated.noise import NoiseProcess, Preset
from profiler.statistics.confirmation import Block, order
from profiler.statistics.search_noise import RoundWindows


def autoregression(rng: np.random.Generator, n: int, sd: float, rho: float) -> np.ndarray:
    """Return n logs of a stationary autoregression."""
    values = np.empty(n)
    values[0] = rng.normal(scale=sd)
    for i in range(1, n):
        values[i] = rho * values[i - 1] + rng.normal(scale=sd * np.sqrt(1 - rho**2))
    return values


def search_round(process: NoiseProcess, level: float = 1.0, windows: int = 10) -> RoundWindows:
    """Return a round of the simulated engine's noise around a level."""
    process.start_block()
    seen = [process.window() for _ in range(windows)]
    return RoundWindows(tuple(level * w.throughput_factor for w in seen), tuple(w.speed_index for w in seen))


def interleaved(process: NoiseProcess, effect: float = 0.0, blocks_per_arm: int = 6, windows: int = 5) -> list[Block]:
    """Return interleaved blocks of two arms, the second faster by the effect."""
    made = []
    for arm in order(blocks_per_arm):
        run = search_round(process, 1 + effect * arm, windows)
        made.append(Block(arm, run.values, run.speed_index))
    return made


def process(preset: Preset, seed: int) -> NoiseProcess:
    """Return a noise process of its own random stream."""
    return NoiseProcess(preset, np.random.default_rng(seed))
