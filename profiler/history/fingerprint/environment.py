"""Where something was measured: figures of two places can be compared only where these facts agree."""

from __future__ import annotations

from profiler import __version__
from profiler.experiment.engine import Engine


def fingerprint(engine: Engine) -> dict[str, str]:
    """Return what decides how fast a job runs on an engine, and how it is measured.

    Slots are left out: how many there are depends on the memory that is free at the moment, and those that a job does
    not use do not change its speed. (Whether a gate has room for two versions at a time it tells by itself.)
    """
    platform = engine.platform
    facts = {
        "engine": engine.name,
        "machine": platform.machine,
        "cores": str(platform.cores),
        "nodes": str(platform.nodes),
        "window": f"{engine.window_s:g} s",
        "profile": __version__,
        "prefill": f"{platform.prefill_keys} keys" if platform.prefill_keys else "",
        **platform.versions,
    }
    return {name: value for name, value in facts.items() if value}
