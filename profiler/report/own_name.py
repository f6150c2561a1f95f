"""How the user calls this program, for the commands that it tells to call next."""

from __future__ import annotations

import os
import re

VARIABLE = "PROFILE_COMMAND"
"""The variable in which `scripts/profile` says how it was called; there may be no `profile` on the path."""
_COMMAND = re.compile(
    r"(?<![\w./-])profile (?=(?:run|gate|compare|recalibrate|history|check|doctor|init|generate|capture|config)\b)"
)


def own_name() -> str:
    """Return what the user has to type for this program."""
    return os.environ.get(VARIABLE) or "profile"


def as_called(text: str) -> str:
    """Put what the user has to type in the place of `profile` where a text names one of its commands."""
    return _COMMAND.sub(lambda _: f"{own_name()} ", text)
