"""How the user calls this program, for the commands that it tells to call next."""

from __future__ import annotations

import os
import re

VARIABLE = "PROFILE_COMMAND"
"""The variable in which `scripts/profile` says how it was called; there may be no `profile` on the path."""
PROGRAM = "profile"
_COMMAND = re.compile(
    rf"(?<![\w./-]){PROGRAM} (?=(?:run|gate|compare|recalibrate|history|check|doctor|init|generate|capture|config)\b)"
)


def own_name() -> str:
    """Return what the user has to type for this program."""
    return os.environ.get(VARIABLE) or PROGRAM


def as_called(text: str) -> str:
    """Put what the user has to type in the place of `profile` where a text names one of its commands."""
    return _COMMAND.sub(lambda _: f"{own_name()} ", text)


def places_of_own_name(text: str) -> list[int]:
    """Return where a text says `profile` to name one of its commands: the user may have to type something else."""
    return [found.start() for found in _COMMAND.finditer(text)]
