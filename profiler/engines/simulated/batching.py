"""Batches in time: ticks in which machine and data stay as they are, and the pause that every batch begins with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from profiler.engines.simulated.flow import Flow
from profiler.engines.simulated.platform import SimulatedPlatform

TICK_S = 3.0
"""Time in which machine and data stay as they are: the noise's figures are of windows of this length."""
_LONGEST_PAUSE = 0.9
"""Part of a tick that the pause takes at the most."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the sources read during one tick."""

    reading_s: float
    flow_per_s: float
    """Rows per second of that time."""
    saturated: bool
    excess_s: float
    """Time that the rows would take that were there and not read."""

    @property
    def rows(self) -> float:
        """Rows that were read."""
        return self.flow_per_s * self.reading_s


@dataclass(frozen=True, slots=True)
class Batching:
    """The course of every batch of a deployment."""

    ticks: int
    tick_s: float
    pause_s: float

    @classmethod
    def of(cls, platform: SimulatedPlatform, flow: Flow, batch_s: float) -> Batching:
        """Derive it from the length of a batch and the tasks that begin with it."""
        ticks = max(1, round(batch_s / TICK_S))
        tick_s = batch_s / ticks
        tasks_on_nodes = np.asarray(flow.placement.tasks[0].sum(axis=0))
        return cls(ticks, tick_s, min(platform.pause_s(tasks_on_nodes), _LONGEST_PAUSE * tick_s))

    @property
    def reading_part(self) -> float:
        """Part of the time in which the sources read."""
        return 1.0 - self.pause_s / (self.ticks * self.tick_s)

    def read(self, tick: int, offered_per_s: float, backlog_rows: float, capacity_per_s: float) -> Reading:
        """Let the sources read in one tick what there is and what the topology takes."""
        reading_s = self.tick_s - (self.pause_s if tick == 0 else 0.0)
        asked = offered_per_s * (self.tick_s / reading_s) + backlog_rows / reading_s
        excess_s = max(0.0, asked / capacity_per_s - 1.0) * reading_s
        return Reading(reading_s, min(asked, capacity_per_s), asked > capacity_per_s, excess_s)

    def steady(self, offered_per_s: float, capacity_per_s: float) -> list[Reading]:
        """Return what is read tick by tick of a batch that finds no backlog, on a machine without noise."""
        readings: list[Reading] = []
        backlog_rows = 0.0
        for tick in range(self.ticks):
            readings.append(self.read(tick, offered_per_s, backlog_rows, capacity_per_s))
            backlog_rows = readings[-1].excess_s * capacity_per_s
        return readings
