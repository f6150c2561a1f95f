"""What is known of a setting besides its value: how it is written, who takes it, what it needs, what it changes.

All of it stands on the setting's declaration; whoever needs a list of settings filters the declared ones by it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from profiler.settings.quantities import Kind, without_credentials

T = TypeVar("T")


class Command(StrEnum):
    """A command, or a group of them, that takes settings."""

    RUN = "run"
    GATE = "gate"
    COMPARE = "compare"
    RECALIBRATE = "recalibrate"
    CHECK = "check"
    DOCTOR = "doctor"
    CAPTURE = "capture"
    GENERATE = "generate"
    HISTORY = "history"


SEARCHING = frozenset({Command.RUN, Command.COMPARE, Command.RECALIBRATE})
MEASURING = SEARCHING | {Command.GATE}
ALL = frozenset(Command)


class Ability(StrEnum):
    """What engines differ in: a setting may need it, and commands ask for it instead of for a name."""

    FUNCTIONS = "functions"
    """The operators' own functions run; without it only their declared costs count."""
    MESSAGES = "messages"
    """Sources send messages through Kafka."""
    STATE = "state"
    """Operators keep state, which can be filled before anything is measured."""
    SPARK = "Spark"
    """A Spark session runs the job, with a master and settings of its own."""
    REAL_TIME = "real time"
    """A window takes as long as it says, and a new engine has to be loaded first."""
    HISTORY = "history"
    """Whatever is measured is worth keeping without being asked to."""
    MODEL = "model"
    """The machine is a model: its size, its noise and the seed are settings."""


class Asked(StrEnum):
    """What a setting is to a stored profile, which keeps all that was asked."""

    QUESTION = "question"
    """The setting makes another answer right."""
    MACHINE = "machine"
    """The setting makes rows cost another amount, as another machine does."""
    DATA = "data"
    """The setting makes rows cost another amount, as other data do."""
    CONDITION = "condition"
    """The setting is kept to ask the same again; what it changes is seen in the platform, the messages or the
    figures."""


@dataclass(frozen=True, slots=True)
class Option:
    """What is known of a setting besides its value."""

    field: str
    key: str
    kind: Kind[Any]
    default: Any
    purpose: str
    """One line for the help."""
    repeatable: bool
    unset: str
    """A phrase for what happens where nothing is set, for settings without a default."""
    commands: frozenset[Command]
    """Commands that have it as a flag."""
    needs: Ability | None
    """Ability of an engine without which it changes nothing; None where it means something to all of them."""
    asked: Asked | None
    """The setting's part in a stored profile; None where it says nothing of what was measured, or where."""

    @property
    def flag(self) -> str:
        """Name of the flag."""
        return f"--{self.key}"

    @property
    def variable(self) -> str:
        """Name of the environment variable."""
        return "PROFILE_" + self.key.upper().replace("-", "_")

    @property
    def is_switch(self) -> bool:
        """Tell whether its flag takes no value."""
        return isinstance(self.default, bool)

    def show(self, value: Any) -> str:
        """Write the value as it would be set, without any credentials in it."""
        if value is None or value == ():
            return self.unset
        written = ",".join(map(self.kind.show, value)) if self.repeatable else self.kind.show(value)
        return without_credentials(written)


def declared(
    key: str,
    kind: Kind[Any],
    default: T,
    purpose: str,
    *,
    repeatable: bool = False,
    unset: str = "none",
    commands: Collection[Command] = MEASURING,
    needs: Ability | None = None,
    asked: Asked | None = None,
) -> T:
    """Declare a setting as a field of a dataclass; typed as its default, so that reading it is typed too."""
    facts = {
        "key": key,
        "kind": kind,
        "purpose": purpose,
        "repeatable": repeatable,
        "unset": unset,
        "commands": frozenset(commands),
        "needs": needs,
        "asked": asked,
    }
    return field(default=default, metadata=facts)


def optional(
    key: str,
    kind: Kind[T],
    purpose: str,
    *,
    unset: str,
    commands: Collection[Command] = MEASURING,
    needs: Ability | None = None,
    asked: Asked | None = None,
) -> T | None:
    """Declare a setting that has no default; `unset` says what happens without one."""
    return declared(key, kind, None, purpose, unset=unset, commands=commands, needs=needs, asked=asked)
