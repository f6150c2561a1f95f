"""`profile doctor`: what a profile on Spark needs, what there is of it, and the way to what is missing."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from profiler.cli.flags import with_settings
from profiler.report.console import result_console
from profiler.services.doctor import examine
from profiler.settings.declarations import Settings
from profiler.settings.option import Command

_FETCHED_AT_FIRST_USE = "jars"
"""Checks of this name that fail are no defect: a run fetches them."""


@with_settings(
    Command.DOCTOR,
    told={"kafka": "A broker to ask whether it answers.", "mongo": "A database to ask whether it answers."},
)
def doctor(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")] = False,
    settings: Settings,
) -> int:
    """Look at Java, jars, Kafka, MongoDB, ports, memory, disk and left-over processes; start nothing."""
    checks = examine(kafka=settings.kafka, mongo=settings.mongo)
    failed = any(not check.ok and _FETCHED_AT_FIRST_USE not in check.name.lower() for check in checks)
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in checks], indent=1))
        return 3 if failed else 0
    table = Table(box=None, pad_edge=False, show_header=False)
    for check in checks:
        mark, style = ("ok", "green") if check.ok else ("!!", "yellow")
        table.add_row(mark, check.name, check.found, style=style if not check.ok else None)
        if check.fix:
            table.add_row("", "", f"→ {check.fix}", style="yellow")
    result_console().print(table)
    return 3 if failed else 0
