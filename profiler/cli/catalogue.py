"""The commands by name: where each is, and what it is for. One is loaded when it is called, and no other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from profiler.report.own_name import as_called


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command is, a function or a group of them, and its line in the help."""

    module: str
    attribute: str
    purpose: str


COMMANDS: Mapping[str, Place] = {
    "run": Place("run", "run", "Find the best tasks per operator."),
    "gate": Place("gate", "gate", "Is this version slower than another?"),
    "compare": Place("compare", "compare", "Which variant is the fastest?"),
    "recalibrate": Place("recalibrate", "recalibrate", "Does a stored profile still hold?"),
    "check": Place("check", "check", "Draw a topology, tell what is missing."),
    "doctor": Place("doctor", "doctor", "Is all there that Spark needs?"),
    "init": Place("init", "init", "Write a topology to start from."),
    "generate": Place("generate", "generate", "Send messages at a steady rate."),
    "capture": Place("capture", "capture", "Sample a topic into a file."),
    "config": Place("config", "app", "Settings and where they come from."),
    "history": Place("history", "app", "What was measured."),
}
"""All commands in the order of the help."""


class LazyGroup(TyperGroup):
    """A group that knows its commands by name, so that help and wrong calls are answered without importing them."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the shape that typer calls
        """Name all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - the shape that typer calls
        """Load a command; None where there is none of that name."""
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            self.commands[cmd_name] = _loaded(cmd_name, COMMANDS[cmd_name])
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - the shape that typer calls
        """Write what every command is for."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, place.purpose) for name, place in COMMANDS.items()])


def _loaded(name: str, place: Place) -> Any:
    found = getattr(import_module(f"profiler.cli.commands.{place.module}"), place.attribute)
    if isinstance(found, typer.Typer):
        group: Any = get_group(found)
        group.name = name
        for command in group.commands.values():
            _tell_as_called(command)
        return group
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(name)(found)
    command = get_command(alone)
    _tell_as_called(command)
    return command


def _tell_as_called(command: Any) -> None:
    """Let the help of a command name others as the user calls them."""
    for each in (command, *command.params):
        each.help = each.help and as_called(each.help)
