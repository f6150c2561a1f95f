"""Tell apart by one word what is too long, or too secret, to be kept: the rows that are sent, and Spark's settings."""

from __future__ import annotations

import hashlib

from profiler.job.topology import Topology
from profiler.secrets import masked_setting
from profiler.services.user_path import user_path
from profiler.settings.declarations import Settings
from profiler.traffic.workload_file import sha256_of_file

_LENGTH = 16
"""Characters of a digest that are kept."""


def digest(text: str) -> str:
    """Tell texts apart."""
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]


def data_digests(topology: Topology) -> dict[str, str]:
    """Tell the rows apart that are sent, by source: the user's files by what they hold, made data by its name."""
    data = {}
    for source in topology.sources:
        named = source.payloads or ""
        path = user_path(named)
        data[source.name] = named
        if named and path.is_file():
            data[source.name] = sha256_of_file(path)[:_LENGTH]
    return data


def conf_digest(settings: Settings) -> str:
    """Tell the user's own Spark settings apart; passwords do not make a job faster."""
    return digest("\n".join(sorted(map(masked_setting, settings.conf)))) if settings.conf else "none"
