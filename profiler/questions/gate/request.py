"""What a gate is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from profiler.job.topology import Topology


@dataclass(frozen=True, slots=True)
class GateRequest:
    """What a gate is asked to do."""

    reference: str
    """The TOPOLOGY argument as it was written."""
    topology: Topology
    tasks: Mapping[str, int] | None
    baseline: str | None
    against: str | None
    against_rev: str | None
    aa: bool
    save_baseline: str | None
    drill: float | None
    rule_out: float
    force: bool
    anew: bool

    @property
    def saves_only(self) -> bool:
        """Tell whether nothing is to be compared: the baseline is measured against itself to know its noise."""
        named = (self.baseline, self.against, self.against_rev, self.drill)
        return self.save_baseline is not None and not self.aa and not any(named)
