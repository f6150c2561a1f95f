"""Whether code that a document names may be run: a stored profile may come from somebody else.

A document names the job, as `file.py:attribute` or `module:attribute`, and to load a job is to run its module. What
lies in the current directory is the user's own, and so is what a profile of this machine says; all else is asked for.
"""

from __future__ import annotations

import re
from pathlib import Path

from profiler.errors import UsageError
from profiler.job.loading import found_code
from profiler.questions.search.stored_profile import StoredProfile
from profiler.shipped import WORKLOADS

_NAMES_CODE = re.compile(
    r"jars|packages|repositories|plugins|extensions|listeners$|classpath|librarypath|javaoptions|pyfiles|pyspark\."
    r"|archives|^spark\.files$|\.dist\.|command|script|sql\.catalog\.|ivy",
    re.IGNORECASE,
)
"""Keys of Spark settings by which a session loads or starts something."""


def place_of_code(stored: StoredProfile, reference: str, *, is_trusted: bool) -> Path | None:
    """Return where the job of a stored profile would be loaded from; None where it ships with us, or is nowhere.

    UsageError where that is outside of the current directory, unless it is trusted.
    """
    if reference.partition("?")[0] in WORKLOADS:
        return None
    place = found_code(reference)
    if place is not None and not is_trusted and not place.is_relative_to(Path.cwd().resolve()):
        raise UsageError(
            f"Profile '{stored.run}' names '{reference}', which is {place}, outside of the current directory.",
            hint="Add --trust where you know that code, or say where the job is: --topology TOPOLOGY.",
        )
    return place


def require_own_settings(stored: StoredProfile) -> None:
    """Refuse settings of a document by which Spark would load what the document names."""
    asked = "" if stored.fingerprint is None else stored.fingerprint.asked.get("conf", "")
    for setting in asked.splitlines():
        if _NAMES_CODE.search(setting.partition("=")[0]):
            raise UsageError(
                f"Profile '{stored.run}' was made with --conf {setting}, which may load code.",
                hint="Add --trust where you know that code, or give --conf yourself.",
            )
