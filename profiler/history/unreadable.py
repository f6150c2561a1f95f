"""What is stored and can't be read: it is named where it is met, can be removed, and spoils nothing but itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from profiler.errors import ProfileError
from profiler.history.migrations import NewerSchema

_LONGEST_SHOWN = 60
"""Characters that are shown of a name, which may be spoiled too."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A run or a baseline that can't be read."""

    name: str | tuple[str, str, str]
    """The name of a run; of a baseline its topology, its engine and its name."""
    why: str
    is_newer: bool = False
    """Whether a newer profile wrote it, which can read it."""

    @classmethod
    def because(cls, error: ProfileError, name: str | tuple[str, str, str]) -> Unreadable:
        """Return what stands for a run or a baseline whose reading ended so."""
        return cls(name, error.message, is_newer=isinstance(error, NewerSchema))

    def __str__(self) -> str:
        return f"{self.noun} can't be read: {self.why}"

    @property
    def noun(self) -> str:
        """The kind of thing it is, and its name."""
        if isinstance(self.name, str):
            return f"Run '{shortened(self.name)}'"
        topology, engine, name = map(shortened, self.name)
        return f"Baseline '{name}' of {topology} on {engine}"

    @property
    def way_out(self) -> str:
        """The way to be rid of it, or to read it."""
        return "Update profile." if self.is_newer else "'profile history prune --unreadable' removes it."


Spoiled = Callable[[Unreadable], None]
"""Hears of what can't be read."""


def ignored(_: Unreadable) -> None:
    """Pass over what can't be read: nobody asked for it by its name."""


def shortened(name: str) -> str:
    """Return a name in a length that a line has room for."""
    return name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}…"
