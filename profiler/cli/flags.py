"""Make a command's flags from the declared settings, so that every setting is declared once."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import typer

from profiler.settings.declarations import OPTIONS
from profiler.settings.option import Command, Option
from profiler.settings.sources import Written, current_directory, resolve

CommandBody = Callable[..., int]


def with_settings(name: Command, *, told: Mapping[str, str] | None = None) -> Callable[[CommandBody], CommandBody]:
    """Give a command the flags of the settings that are declared for it, and hand it the resolved `settings`.

    `told` is the help of settings that mean something else to this command, or only some of it.
    """
    options = [option for option in OPTIONS if name in option.commands]

    def decorate(command: CommandBody) -> CommandBody:
        @functools.wraps(command)
        def wrapper(**arguments: Any) -> int:
            given = {option.key: arguments.pop(option.field) for option in options}
            settings = resolve(_written(given), os.environ, current_directory())
            return command(**arguments, settings=settings)

        own = inspect.signature(command, eval_str=True)
        kept = [parameter for parameter in own.parameters.values() if parameter.name != "settings"]
        parameters = [*kept, *(_parameter(option, (told or {}).get(option.key)) for option in options)]
        # Typer reads the flags off the signature; keyword-only, so that a flag may follow a default.
        keyword_only = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
        wrapper.__signature__ = own.replace(parameters=keyword_only)  # type: ignore[attr-defined]
        wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return wrapper

    return decorate


def _written(given: Mapping[str, bool | str | Sequence[str] | None]) -> dict[str, Written]:
    """Turn what typer parsed into the text of a setting; flags that were not given are left out."""
    written: dict[str, Written] = {}
    for key, value in given.items():
        if isinstance(value, bool):
            written[key] = "true" if value else "false"
        elif isinstance(value, str) or value:
            written[key] = value
    return written


def _parameter(option: Option, told: str | None) -> inspect.Parameter:
    purpose = option.purpose if option.is_switch else f"{option.purpose} [{option.show(option.default)}]"
    names = [f"{option.flag}/--no-{option.key}"] if option.is_switch else [option.flag]
    annotation: Any = bool | None if option.is_switch else list[str] | None if option.repeatable else str | None
    return inspect.Parameter(
        option.field,
        inspect.Parameter.KEYWORD_ONLY,
        default=typer.Option(None, *names, metavar=option.kind.metavar or None, help=told or purpose),
        annotation=annotation,
    )
