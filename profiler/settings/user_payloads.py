"""The data a command works with: `--payloads` puts the user's own messages in the place of those a topology names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from profiler.errors import UsageError, did_you_mean
from profiler.job.topology import Topology
from profiler.services.user_path import user_path
from profiler.settings.declarations import Settings
from profiler.shipped import DATA

if TYPE_CHECKING:
    from profiler.traffic.payload_sample import PayloadSample


def with_payloads(topology: Topology, settings: Settings) -> Topology:
    """Return the topology with the payloads that the settings name: FILE for all sources, SOURCE=FILE for one."""
    if not settings.payloads:
        return topology
    names = [source.name for source in topology.sources]
    of_all: str | None = None
    of_one: dict[str, str] = {}
    for written in settings.payloads:
        source, separator, file = written.partition("=")
        # A file whose name has an equals sign is a file all the same.
        if not separator or _exists(written):
            of_all = _checked(written)
        elif source in names:
            of_one[source] = _checked(file)
        else:
            raise UsageError(
                f"--payloads names the source '{source}', which '{topology.name}' does not have.",
                hint=did_you_mean(source, names, otherwise=f"It has {', '.join(names)}."),
            )
    sources = [
        replace(source, payloads=of_one.get(source.name, of_all or source.payloads)) for source in topology.sources
    ]
    return topology.changed(sources=sources)


def payload_samples(topology: Topology, settings: Settings) -> dict[str, PayloadSample]:
    """Read the files that `--payloads` names and tell what is in them, by source; refuse what cannot be replayed."""
    if not settings.payloads:
        return {}
    from profiler.traffic.workload_file import sample_file

    files = {source.name: source.payloads or "" for source in topology.sources}
    own = {name: user_path(file) for name, file in files.items() if file not in DATA}
    samples = {path: sample_file(path) for path in set(own.values())}
    return {name: samples[path] for name, path in own.items()}


def _exists(written: str) -> bool:
    return user_path(written).is_file()


def _checked(file: str) -> str:
    if file not in DATA and not _exists(file):
        raise UsageError(
            f"--payloads names '{file}', which is neither a file nor known data.",
            hint=f"Name a file of JSON lines (gzip or not), or one of {', '.join(DATA)}; "
            "'profile capture' takes one from a topic.",
        )
    return file
