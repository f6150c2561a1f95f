"""What else went on on the job's machine during a window: what others took of it, and what held the job up."""

from __future__ import annotations

from dataclasses import dataclass

_LEAST_LEFT = 0.1
"""The smallest part of the machine that is taken to be left: a job that still ran had some."""


@dataclass(frozen=True, slots=True)
class Disturbance:
    """The counters of one window; None stands for what nobody counts there."""

    cores: int
    """Cores of the machine that the job may use."""
    other_cores: float
    """Cores of these in use by programs that the profile did not start."""
    stolen_cores: float = 0.0
    """Cores of these that the host of a virtual machine gave to others."""
    throttled_s: float | None = None
    """Seconds for which the quota of a container held back the job; None where there is no quota."""
    gc_s: float | None = None
    """Seconds for which the engine stood still to collect garbage."""
    paged_out_mb: float | None = None
    """Megabytes that the machine moved from memory to disk."""

    @property
    def taken_cores(self) -> float:
        """Cores that others had."""
        return self.other_cores + self.stolen_cores

    @property
    def part_left(self) -> float:
        """Part of the cores that others left."""
        return max(_LEAST_LEFT, 1.0 - self.taken_cores / self.cores)
