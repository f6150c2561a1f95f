"""`profile generate TOPIC --rate R`: the message generator alone."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from profiler.cli.flags import with_settings
from profiler.errors import UsageError
from profiler.job.topology import Source
from profiler.report.console import error_console, result_console
from profiler.services.kafka import given_kafka
from profiler.services.run_folder import cache_directory
from profiler.settings.declarations import Settings
from profiler.settings.option import Command
from profiler.settings.quantities import duration
from profiler.settings.quantities import rate as rate_kind
from profiler.traffic.generator.standalone import generate as send
from profiler.traffic.generator.wire import GeneratorReport
from profiler.traffic.payload_files import payload_file


@with_settings(Command.GENERATE, told={"kafka": "The broker to send to; it must be named."})
def generate(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="The topic to send to; it must exist.")],
    *,
    rate: Annotated[str, typer.Option("--rate", metavar="RATE", help="Messages per second: 5000, 5k/s.")],
    seconds: Annotated[str, typer.Option("--for", metavar="DURATION", help="How long.")] = "60s",
    payloads: Annotated[str, typer.Option("--payloads", help="A file of JSON lines, or 'tweets'.")] = "tweets",
    settings: Settings,
) -> int:
    """Send messages at a steady rate, each when it is due, and report what was achieved."""
    if settings.kafka is None:
        raise UsageError("`profile generate` needs a broker to send to.", hint="Name it: --kafka HOST:PORT.")
    per_s = rate_kind().read(rate, "--rate")
    lasting_s = duration().read(seconds, "--for")
    file = payload_file(Source("generate", payloads=payloads), cache_directory())
    given_kafka(settings.kafka).close()
    console = error_console()

    def told(report: GeneratorReport) -> None:
        if not settings.quiet and console.is_terminal:
            line = f"{report.acked:,} of {report.offered:,} messages, {report.behind_s:.2f} s behind"
            console.print(line, end="\r")

    with tempfile.TemporaryDirectory() as folder:
        last = send(settings.kafka, topic, per_s, lasting_s, file, told, log=Path(folder) / "generator.log")
    result_console().print(
        f"{last.acked:,} of {last.offered:,} messages acknowledged, {last.errors:,} failed, "
        f"{last.abandoned:,} not sent in time."
    )
    return 0 if last.errors == 0 and last.abandoned == 0 else 3
