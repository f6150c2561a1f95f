"""`profile check TOPOLOGY`: draw the DAG, count the slots, tell what is missing; start no broker and no query."""

from __future__ import annotations

from typing import Annotated

import typer

from profiler.cli.flags import with_settings
from profiler.job.loading import load_topology
from profiler.job.slots import smallest_configuration
from profiler.questions.check.request import CheckRequest
from profiler.settings.declarations import Settings
from profiler.settings.option import Command
from profiler.settings.user_payloads import with_payloads


@with_settings(Command.CHECK)
def check(
    topology: Annotated[
        str, typer.Argument(metavar="TOPOLOGY", help="A workload's name, module:attribute or file.py:attribute.")
    ],
    *,
    spark: Annotated[
        bool, typer.Option("--spark/--no-spark", help="Look at the operators' columns in a local Spark session.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a drawing.")] = False,
    settings: Settings,
) -> int:
    """Check a topology: draw its DAG with the queries and stages it runs in, count the slots, tell what is missing."""
    loaded = with_payloads(load_topology(topology), settings)
    smallest_configuration(loaded, settings.slots)  # too few slots are refused before a session is started

    # Last, as it imports Spark: wrong input is refused at once.
    from profiler.questions.check.run import run_check

    return run_check(CheckRequest(loaded, spark=spark, as_json=as_json), settings)
