"""What a check is asked."""

from __future__ import annotations

from dataclasses import dataclass

from profiler.job.topology import Topology


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """What a check is asked to do."""

    topology: Topology
    spark: bool
    """Whether the operators' columns are looked at in a Spark session."""
    as_json: bool
