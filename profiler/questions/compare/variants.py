"""The variants of a comparison: loaded beside each other, each with a name of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from profiler.engines.catalogue import kind_of
from profiler.job.loading import load_topology
from profiler.job.topology import Topology
from profiler.job.versions import load_version
from profiler.settings.declarations import Settings
from profiler.settings.option import Ability
from profiler.settings.user_payloads import with_payloads
from profiler.shipped import WORKLOADS


@dataclass(frozen=True, slots=True)
class Job:
    """A variant as the user named it."""

    name: str
    """The reference; a variant that is named twice is numbered."""
    reference: str
    topology: Topology


def load_jobs(references: Sequence[str], settings: Settings) -> tuple[Job, ...]:
    """Load all of them; variants of one job may have modules of the same names."""
    first = references[0]
    jobs = []
    for number, reference in enumerate(references):
        earlier = references[:number].count(reference)
        topology = load_topology(reference) if number == 0 else _beside(first, reference, settings)
        name = f"{reference} ({earlier + 1})" if earlier else reference
        jobs.append(Job(name, reference, with_payloads(topology, settings)))
    return tuple(jobs)


def _beside(first: str, reference: str, settings: Settings) -> Topology:
    if reference.partition("?")[0] in WORKLOADS:
        return load_topology(reference)
    version = load_version(reference, beside=first)
    if kind_of(settings.engine).has(Ability.FUNCTIONS):
        version.travel_by_value("the first variant's")
    return version.topology
