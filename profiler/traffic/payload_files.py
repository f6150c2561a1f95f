"""Find the file that the generator replays for a source: the user's own, or made once and cached."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from profiler.errors import UsageError
from profiler.job.topology import Source
from profiler.services.user_path import user_path
from profiler.shipped import DATA


def payload_file(source: Source, cache: Path) -> Path:
    """Return the workload file of a source, making it where a data maker's name is given."""
    named = source.payloads
    if named is None:
        raise UsageError(
            f"Source '{source.name}' has no payloads, so there is nothing to send.",
            hint=f"Name a file of JSON lines, or one of {', '.join(DATA)}: Source('{source.name}', payloads=…).",
        )
    if named in DATA:
        module, _, maker = DATA[named].partition(":")
        made: Path = getattr(import_module(module), maker)(cache)
        return made
    path = user_path(named)
    if not path.is_file():
        raise UsageError(
            f"The payloads '{named}' of source '{source.name}' are neither a file nor known data.",
            hint=f"Name a file of JSON lines, or one of {', '.join(DATA)}. "
            "Files are looked for beside the one that names them, and in the current directory.",
        )
    return path
