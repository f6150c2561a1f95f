"""Where the rows of a deployment come from and go to: its Kafka topics, by number of partitions; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from profiler.engines.spark.layout.chains import Chain, Layout
from profiler.job.configuration import Configuration

OWNER = "profile"
"""The beginning of every topic's name: a killed run leaves its own on a given broker, whose users see whose they
are."""


@dataclass(frozen=True, slots=True)
class Places:
    """The places that rows come from and go to."""

    address: str
    sources: Mapping[str, str]
    """Topic by source."""
    inboxes: Mapping[str, str]
    """Topic by chain."""
    output: str
    samples: str
    marks: str
    hops: Mapping[str, int]
    """Chains that a row has passed behind each of them; none where one query is all there is."""

    @property
    def written(self) -> dict[str, int]:
        """Partitions of the topics that nobody in the topology reads."""
        return {self.output: 1, self.samples: 1, **({self.marks: len(self.hops)} if self.hops else {})}

    def mark_of(self, chain: Chain) -> tuple[str, int]:
        """Topic and partition for the marks of a chain that is not the only one."""
        return self.marks, list(self.hops).index(chain.name)

    def read_by(self, chain: Chain) -> tuple[str, ...]:
        """Topics that a chain reads."""
        return tuple(self.sources[name] for name in chain.sources) or (self.inboxes[chain.name],)


def places_of(address: str, deployment: str, deployed: Layout) -> Places:
    """Name the topics; by number, as names of operators may hold what a topic's may not."""
    prefix = f"{OWNER}-{deployment}"
    sources = [name for query in deployed.queries for name in query.chain.sources]
    inboxes = [query.chain.name for query in deployed.queries if query.inbox_partitions]
    return Places(
        address,
        {name: f"{prefix}-source-{index}" for index, name in enumerate(sources, 1)},
        {name: f"{prefix}-inner-{index}" for index, name in enumerate(inboxes, 1)},
        f"{prefix}-output",
        f"{prefix}-samples",
        f"{prefix}-marks",
        _hops(deployed) if len(deployed.queries) > 1 else {},
    )


def partitions_of(configuration: Configuration, deployed: Layout, places: Places) -> dict[str, int]:
    """Give the partitions of every topic that is read."""
    sources = {places.sources[source]: configuration[source] for source in places.sources}
    inner = {
        places.inboxes[query.chain.name]: query.inbox_partitions for query in deployed.queries if query.inbox_partitions
    }
    return {**sources, **inner}


def _hops(deployed: Layout) -> dict[str, int]:
    """Count the chains up to and with each one, by the longest way; producers come first in a plan."""
    hops = {query.chain.name: 1 for query in deployed.queries}
    for query in deployed.queries:
        for consumer in query.chain.consumers:
            hops[consumer] = max(hops[consumer], hops[query.chain.name] + 1)
    return hops
