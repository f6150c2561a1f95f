"""How long to look at what runs, in numbers of windows."""

from __future__ import annotations

from dataclasses import dataclass

FEWEST_WINDOWS = 4
"""The fewest windows of a round: fewer make it doubtful, and tell no hopeless one."""
LONGEST_BATCH_S = 30.0
"""The longest batch that is run to stand for one of production's."""
TYPICAL_BATCHES = 4
"""Batches that it takes, as a rule, to find the rate that an answer holds."""


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """The numbers of windows that say how long to look."""

    windows: int = 10
    warm_up: int = 14
    """Windows to wait for a steady state at the most."""
    probe: int = 3
    calm: int = 5
    block: int = 3
    block_warm_up: int = 1
    block_probe: int = 0
    """Windows at the end of a block that tell the latency at a rate the arms can follow; a confirmation needs none."""
    blocks: int = 6
    """Blocks per arm of a confirmation; 0 leaves the answer unconfirmed."""
    longest_cold: float = 1.0
    """The longest time for which a new engine may be loaded while its compilers are busy, in times the time for which
    it must be."""

    @property
    def block_windows(self) -> int:
        """Windows of a whole block: those that do not count, those under stress and those of its probe."""
        return self.block_warm_up + self.block + self.block_probe
