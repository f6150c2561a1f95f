"""Where a setting's value comes from: default < configuration file < environment < flag.

The file is the nearest `profile.toml`, or `pyproject.toml` with a `[tool.profile]` table, from the current directory
upwards; in one directory `profile.toml` goes first. Keys are written as flags without their dashes. A key that does
not exist is refused: a setting that is silently ignored would make a measurement say something else than it claims.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from profiler.errors import UsageError, did_you_mean
from profiler.settings.declarations import OPTIONS, Settings
from profiler.settings.option import Option

Written = str | Sequence[str]
"""A value as the user wrote it; several for a repeatable setting."""

_PREFIX = "PROFILE_"
_NOT_SETTINGS = {"PROFILE_CACHE", "PROFILE_COMMAND"}
"""Variables of this machine rather than of a measurement: where downloads are kept, and how this program is called."""
_BY_KEY = {option.key: option for option in OPTIONS}


def resolve(flags: Mapping[str, Written], environment: Mapping[str, str], directory: Path) -> Settings:
    """Settle every setting; `flags` holds the keys given on the command line."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    written = [*_from_file(directory), *_from_environment(environment), *_from_flags(flags)]
    for option, value, origin, where in written:
        values[option.field] = _parsed(option, value, where)
        origins[option.key] = origin
    return Settings(**values, origins=origins)


def current_directory() -> Path:
    """Return the directory in which the user works; UsageError where it has been deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError("The current directory no longer exists.", hint="Change to one that does.") from None


_Found = tuple[Option, Written, str, str]
"""A setting, its text, where it came from, and how an error names it."""


def _from_flags(flags: Mapping[str, Written]) -> list[_Found]:
    return [(_BY_KEY[key], value, f"flag --{key}", f"--{key}") for key, value in flags.items()]


def _from_environment(environment: Mapping[str, str]) -> list[_Found]:
    by_variable = {option.variable: option for option in OPTIONS}
    found: list[_Found] = []
    for name, value in environment.items():
        if not name.startswith(_PREFIX) or name in _NOT_SETTINGS:
            continue
        option = by_variable.get(name)
        if option is None:
            raise UsageError(
                f"The environment variable {name} is no setting.",
                hint=_nearest(name, list(by_variable)) + " Unset it or correct its name.",
            )
        separate: Written = value.split(",") if option.repeatable else value
        found.append((option, separate, f"environment {name}", f"The environment variable {name}"))
    return found


def _from_file(directory: Path) -> list[_Found]:
    path, table = _nearest_table(directory)
    if path is None:
        return []
    shown = path.name if path.parent == directory else str(path)
    found: list[_Found] = []
    for key, value in table.items():
        option = _BY_KEY.get(key)
        if option is None:
            raise UsageError(f"{shown} sets '{key}', which is no setting.", hint=_nearest(key, list(_BY_KEY)))
        where = f"'{key}' in {shown}"
        found.append((option, _written(option, value, where), shown, where))
    return found


def _nearest_table(directory: Path) -> tuple[Path | None, Mapping[str, Any]]:
    for folder in (directory, *directory.parents):
        own = folder / "profile.toml"
        if own.is_file():
            return own, _read_toml(own)
        shared = folder / "pyproject.toml"
        if shared.is_file():
            tool = _table(_read_toml(shared).get("tool", {}), "tool", shared)
            if "profile" in tool:
                return shared, _table(tool["profile"], "tool.profile", shared)
    return None, {}


def _table(found: object, name: str, path: Path) -> Mapping[str, Any]:
    if not isinstance(found, Mapping):
        raise UsageError(f"{path} sets '{name}' to a single value.", hint=f"Write it as a table: [{name}].")
    return found


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise UsageError(f"{path} is nested too deeply.", hint="Correct it or move it away.") from error
    except (ValueError, OSError) as error:  # the first also of a number with thousands of digits
        raise UsageError(f"{path} cannot be read: {error}.", hint="Correct it or move it away.") from error


def _written(option: Option, value: object, where: str) -> Written:
    """Turn a TOML value into the text a flag would have, so that both are parsed by the same rule."""
    if option.repeatable and isinstance(value, list):
        return [str(item) for item in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise option.kind.malformed(str(value), where)


def _parsed(option: Option, value: Written, where: str) -> Any:
    several = [value] if isinstance(value, str) else list(value)
    parsed = [option.kind.read(one, where) for one in several]
    return tuple(parsed) if option.repeatable else parsed[-1]


def _nearest(name: str, known: Sequence[str]) -> str:
    return did_you_mean(name, known, otherwise=f"Known: {', '.join(known)}.")
