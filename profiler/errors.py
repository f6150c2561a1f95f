"""The one family of errors that reaches a user: a sentence that says what, where and the way out."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ProfileError(Exception):
    """The experiment could not run (exit code 3); every error a user may see derives from this.

    `message` says what went wrong and where, `hint` what to do about it. Nothing in the core prints either:
    the command line does, in one place.
    """

    exit_code = 3

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class UsageError(ProfileError):
    """The user's input or configuration is wrong (exit code 2)."""

    exit_code = 2


class TopologyError(UsageError):
    """A topology that contradicts itself, or could not be loaded."""


def did_you_mean(name: str, known: Iterable[str], *, otherwise: str) -> str:
    """Return a hint that names what was probably meant, or the other hint where nothing is near."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"Did you mean '{near[0]}'?" if near else otherwise
