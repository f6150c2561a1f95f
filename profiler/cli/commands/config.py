"""`profile config show`: every setting, its value and where it came from."""

from __future__ import annotations

import json
import os
from typing import Annotated

import typer

from profiler.report.console import result_console
from profiler.settings.declarations import OPTIONS
from profiler.settings.sources import current_directory, resolve

app = typer.Typer(
    help="Settings and where they come from: default < profile.toml or [tool.profile] < PROFILE_* < flag.",
    rich_markup_mode=None,
)


@app.callback()
def config() -> None:
    """Keep `show` a command of its own: a group of one command would swallow its name."""


@app.command("show")
def show(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")] = False,
) -> int:
    """Show every setting, its value and where the value came from."""
    settings = resolve({}, os.environ, current_directory())
    values = {option: getattr(settings, option.field) for option in OPTIONS}
    if as_json:
        document = {
            option.key: {
                "value": value if value is None or isinstance(value, bool | int) else option.show(value),
                "from": settings.origin(option.key),
            }
            for option, value in values.items()
        }
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return 0
    rows = [("key", "value", "from")]
    rows += [(option.key, option.show(value), settings.origin(option.key)) for option, value in values.items()]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    console = result_console()
    for key, value, origin in rows:
        style = "bold" if key == "key" else "dim" if origin == "default" else None
        console.print(f"{key:{widths[0]}}  {value:{widths[1]}}  {origin}", style=style)
    return 0
