"""`profile check TOPOLOGY`: draw the DAG, count the slots, tell what is missing; start no broker and no query."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from profiler.cli.flags import with_settings
from profiler.settings.declarations import Settings
from profiler.settings.option import Command

if TYPE_CHECKING:
    from profiler.job.topology import Topology
    from profiler.questions.check.findings import Room


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
    from profiler.job.loading import load_topology
    from profiler.job.slots import smallest_configuration
    from profiler.questions.check import findings
    from profiler.questions.check.document import check_document
    from profiler.questions.check.terminal import print_checked
    from profiler.report.console import result_console
    from profiler.traffic.user_payloads import in_words, payload_samples, with_payloads

    loaded = with_payloads(load_topology(topology), settings)
    smallest_configuration(loaded, settings.slots)  # too few slots are refused before a session is started
    samples = payload_samples(loaded, settings)
    columns = _columns(loaded) if spark else None
    checked = findings.check(loaded, bound=settings.slots, room=_room(settings.master), columns=columns)
    if as_json:
        payloads = {name: asdict(sample) for name, sample in samples.items()} or None
        typer.echo(json.dumps({**check_document(checked), "payloads": payloads}, indent=2, ensure_ascii=False))
    else:
        print_checked(result_console(), checked)
        for source in loaded.sources:
            if source.name in samples:
                typer.echo(f"Payloads of {in_words(source.name, source.payloads or '', samples[source.name])}")
    return 0


def _columns(topology: Topology) -> dict[str, tuple[str, ...]] | None:
    """Look at the columns; a topology without Spark code needs no session for that."""
    if all(operator.function is None for operator in topology.operators):
        return None
    from profiler.questions.check.columns import operator_columns
    from profiler.report.console import error_console

    error_console().print("Looking at the operators' columns in a local Spark session (--no-spark skips it) …")
    return operator_columns(topology)


def _room(master: str | None) -> Room:
    from profiler.engines.spark.jvm.session import default_master, local_slots
    from profiler.questions.check.findings import Room

    named = master or default_master()
    return Room(named, local_slots(named), by_default=master is None)
