"""What the deployments of an engine learn of a job, for those that come after them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class JobMemory:
    """What is known of one job by now; its deployments read it and add to it, also side by side."""

    capacity_per_s: float = 0.0
    """The rate at which rows came out lately, as a first guess of what another configuration takes; 0 while unknown."""
    telling: frozenset[str] | None = None
    """The queries whose marks tell how far they are; None while that is not known."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """CPU seconds per source row of elements, from stages of their own; they divide the stages that elements share."""
