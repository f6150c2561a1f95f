"""A job as one deployment runs it: cut into queries, with a place for all that goes in and comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from profiler.engines.spark.layout.chains import Layout
from profiler.engines.spark.layout.topic_names import Places
from profiler.experiment.observation import Detail
from profiler.job.topology import Topology


@dataclass(frozen=True, slots=True)
class PlacedJob:
    """A topology, its layout and its topics, and how closely it is looked at."""

    topology: Topology
    layout: Layout
    places: Places
    partitions: Mapping[str, int]
    """The number of partitions of the topics that are read."""
    detail: Detail
    fused: bool
    """Whether Spark may fuse operators, as it does in production."""

    @property
    def topics(self) -> dict[str, int]:
        """The partitions of all topics of the deployment."""
        return {**self.partitions, **self.places.written}
