"""Take a fingerprint of what the settings ask for, and let a stored one stand in for settings that nobody made."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from profiler.engines.catalogue import KnownPlatform, kind_of
from profiler.engines.opening import foreseen_platform
from profiler.errors import UsageError
from profiler.experiment.engine import Engine, Platform
from profiler.history.fingerprint.fingerprint import Fingerprint, fingerprint_of
from profiler.job.topology import Source, Topology
from profiler.secrets import is_masked
from profiler.services.user_path import user_path
from profiler.settings.declarations import OPTIONS, Settings
from profiler.settings.option import Ability
from profiler.settings.quantities import without_credentials
from profiler.shipped import DATA

if TYPE_CHECKING:
    from profiler.traffic.payload_sample import PayloadSample

_LATENCY = "latency"
_SEPARATOR = "\n"
"""The text between the values of a setting that has several."""
_OPTIONS = [option for option in OPTIONS if option.asked is not None]
"""Settings that say what was measured and where; those that say how it is reported are not among them."""


def asked_of(settings: Settings) -> dict[str, str]:
    """Write the settings in force as flags would be; those without a value are left out."""
    asked: dict[str, str] = {}
    for option in _OPTIONS:
        value = getattr(settings, option.field)
        if value is not None and value != ():
            asked[option.key] = _SEPARATOR.join(map(option.kind.show, value if option.repeatable else (value,)))
    return asked


def as_asked(settings: Settings, asked: Mapping[str, str]) -> Settings:
    """Return the settings with those of a stored profile wherever the user made none."""
    values: dict[str, Any] = {}
    for option in _OPTIONS:
        if option.key in asked and settings.origin(option.key) == "default":
            written = asked[option.key].split(_SEPARATOR) if option.repeatable else [asked[option.key]]
            _require_all_known(option.key, written)
            parsed = tuple(option.kind.read(each, f"The stored {option.key}") for each in written)
            values[option.field] = parsed if option.repeatable else parsed[0]
    return replace(settings, **values)


def with_changed_constraint(settings: Settings, topology: Topology, stored: Fingerprint) -> Settings:
    """Return the settings with the constraint of the job as it is now, where the stored profile kept that of its code.

    What a user asked for, now or then, stays; so does what was stored before the code's own constraint was.
    """
    before, now = stored.own_latency, _own_latency(topology)
    was_asked = stored.asked.get(_LATENCY) != _unless_asked(before)
    if before is None or before == now or was_asked or settings.origin(_LATENCY) != "default":
        return settings
    return as_asked(settings, {_LATENCY: _unless_asked(now)})


def _own_latency(topology: Topology) -> str:
    if topology.latency_ms is None:
        return ""
    return asked_of(Settings(latency_ms=topology.latency_ms))[_LATENCY]


def _unless_asked(own_latency: str | None) -> str:
    """Return the constraint of a job where nobody asks for another one."""
    return own_latency or asked_of(Settings())[_LATENCY]


def _require_all_known(key: str, written: Sequence[str]) -> None:
    """Refuse to guess what was not kept, as it is secret."""
    secret = next(filter(is_masked, written), None)
    if secret is not None:
        name = secret.partition("=")[0]
        raise UsageError(
            f"The profile was made with --{key} {name}, whose value is not kept.",
            hint=f"Give it again, with all the others: {' '.join(f'--{key} {each}' for each in written)}",
        )


def fingerprint_on(engine: Engine, topology: Topology, reference: str, settings: Settings) -> Fingerprint:
    """Take the fingerprint of a topology on an engine that is open."""
    return _taken(topology, reference, settings, engine.platform, engine.slots_for(topology))


def code_of(fingerprint: Fingerprint) -> str:
    """Tell by one word whether rounds are of the same job, data and platform.

    What was asked is kept by itself, and slots that nobody stated follow the free memory.
    """
    stated = {name: fact for name, fact in fingerprint.platform.items() if name != "slots" or fingerprint.stated_slots}
    return replace(fingerprint, asked={}, platform=stated).digest


def foreseen_fingerprint(topology: Topology, reference: str, settings: Settings, stored: Fingerprint) -> Fingerprint:
    """Take the fingerprint without starting an engine; what only a cluster could tell is taken as it was stored."""
    known = KnownPlatform(stored.platform, stored.loop_s)
    return _taken(topology, reference, settings, *foreseen_platform(topology, settings, known))


def _taken(topology: Topology, reference: str, settings: Settings, platform: Platform, slots: int) -> Fingerprint:
    kind = kind_of(settings.engine)
    stated = settings.slots is not None or settings.master is not None or kind.has(Ability.MODEL)
    return fingerprint_of(
        topology,
        reference,
        settings.engine,
        platform,
        slots=slots if settings.slots is None else min(slots, settings.slots),
        master=_master(settings) if kind.has(Ability.SPARK) else "",
        stated_slots=stated,
        samples=_samples(topology, settings),
        asked=asked_of(settings),
        own_latency=_own_latency(topology),
    )


def _master(settings: Settings) -> str:
    """Name the master; the slots of a local one are told by themselves."""
    is_local = settings.master is None or settings.master.startswith("local")
    return "local" if is_local else without_credentials(settings.master or "")


def _samples(topology: Topology, settings: Settings) -> dict[str, PayloadSample]:
    """Sample the messages of every source; made data is made only for an engine that sends it."""
    from profiler.traffic.workload_file import sample_file

    files = {source.name: path for source in topology.sources if (path := _messages(source, settings)) is not None}
    by_file: dict[Path, PayloadSample] = {}
    for path in set(files.values()):
        with contextlib.suppress(UsageError):  # what cannot be replayed is told by the engine that would have to
            by_file[path] = sample_file(path)
    return {name: by_file[path] for name, path in files.items() if path in by_file}


def _messages(source: Source, settings: Settings) -> Path | None:
    from profiler.services.run_folder import cache_directory
    from profiler.traffic.payload_files import payload_file

    named = source.payloads
    is_known = named is not None and (
        user_path(named).is_file() if named not in DATA else kind_of(settings.engine).has(Ability.MESSAGES)
    )
    return payload_file(source, cache_directory()) if is_known else None
