"""Noise of a machine: what a window's throughput, CPU time and speed index do although nothing was changed.

All three are log-normal around 1. The logs of throughput t, CPU per row c and speed index s are

    t = s + e        c = -s + u

where s, e and u are independent, and each is a drift (constant within a block, that is one deployment) plus a
first-order autoregression over the windows of the block. So the speed index explains var(s) / var(t) of the
throughput, and CPU per row × speed index keeps only u. Means are 1: noise-free truth is what windows average to.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np


class Preset(StrEnum):
    """The kind of machine that is simulated."""

    QUIET = "quiet"
    """The paper's own cluster."""
    SHARED = "shared"
    """Machines that change speed under you, with the figures seen on real ones."""
    HOSTILE = "hostile"
    """Nearly quiet; its hostility is in the platform: what no policy's model knows."""
    DISTURBED = "disturbed"
    """Quiet but for a neighbour, which is in the platform too: it takes half a core of every node now and then."""
    BATCHED = "batched"
    """Quiet, but a batch costs its tasks something whatever their rows: a small stream tells wrong costs."""


@dataclass(frozen=True, slots=True)
class WindowNoise:
    """Factors of one window; each is 1 on average."""

    throughput_factor: float
    cpu_factor: float
    """The factor of the CPU time per row."""
    speed_index: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Figures:
    """A preset; standard deviations are of logs, over windows of many blocks: nearly the coefficient of variation."""

    throughput_sd: float
    explained: float
    """Part of the variance of log throughput that the log of the speed index explains."""
    cpu_sd: float
    """Standard deviation of CPU per row × speed index."""
    lag1: float
    """Correlation of consecutive windows within a block."""
    drift_share: float
    """Part of every variance that lies between blocks."""


_FIGURES = {
    Preset.QUIET: _Figures(throughput_sd=0.025, explained=0.3, cpu_sd=0.015, lag1=0.1, drift_share=0.02),
    Preset.BATCHED: _Figures(throughput_sd=0.025, explained=0.3, cpu_sd=0.015, lag1=0.1, drift_share=0.02),
    Preset.SHARED: _Figures(throughput_sd=0.12, explained=0.6, cpu_sd=0.065, lag1=0.4, drift_share=0.25),
    Preset.HOSTILE: _Figures(throughput_sd=0.03, explained=0.3, cpu_sd=0.02, lag1=0.2, drift_share=0.03),
    Preset.DISTURBED: _Figures(throughput_sd=0.025, explained=0.3, cpu_sd=0.015, lag1=0.1, drift_share=0.02),
}


class NoiseProcess:
    """Draws the noise of window after window, block after block, from one random stream."""

    def __init__(self, preset: Preset, rng: np.random.Generator) -> None:
        figures = _FIGURES[preset]
        speed = figures.throughput_sd * math.sqrt(figures.explained)
        rest = figures.throughput_sd * math.sqrt(1 - figures.explained)
        self._rng = rng
        self._lag1 = figures.lag1
        self._sd = np.array([speed, rest, figures.cpu_sd])
        self._drift_sd = self._sd * math.sqrt(figures.drift_share)
        self._window_sd = self._sd * math.sqrt(1 - figures.drift_share)
        self.start_block()

    def start_block(self) -> None:
        """Draw a new drift, as every deployment meets the machine in another state."""
        self._drift = self._drift_sd * self._rng.standard_normal(3)
        self._state = self._window_sd * self._rng.standard_normal(3)

    def window(self) -> WindowNoise:
        """Draw the noise of the next window of the block."""
        speed, rest, cpu = (self._drift + self._state).tolist()
        shock = self._window_sd * math.sqrt(1 - self._lag1**2) * self._rng.standard_normal(3)
        self._state = self._lag1 * self._state + shock
        # A log-normal's mean is exp(var / 2) above its median: subtracting it makes every factor 1 on average.
        var_speed, var_rest, var_cpu = (self._sd**2).tolist()
        return WindowNoise(
            throughput_factor=math.exp(speed + rest - (var_speed + var_rest) / 2),
            cpu_factor=math.exp(cpu - speed - (var_speed + var_cpu) / 2),
            speed_index=math.exp(speed - var_speed / 2),
        )
