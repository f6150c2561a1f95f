"""`profile recalibrate [PROFILE]`: tell whether a stored profile is still right, and repeat only what is needed."""

from __future__ import annotations

from typing import Annotated

import typer

from profiler.cli.flags import with_settings
from profiler.errors import UsageError
from profiler.questions.recalibrate.request import RecalibrateRequest
from profiler.settings.declarations import Settings
from profiler.settings.option import Command
from profiler.settings.quantities import count, duration


@with_settings(Command.RECALIBRATE)
def recalibrate(
    profile: Annotated[
        str | None,
        typer.Argument(
            metavar="PROFILE",
            help="A run, a topology's name, or a --json file of 'profile run'. [the newest profile]",
        ),
    ] = None,
    *,
    topology: Annotated[
        str | None,
        typer.Option("--topology", metavar="TOPOLOGY", help="Where the job is now. [where the profile found it]"),
    ] = None,
    trust: Annotated[
        bool,
        typer.Option("--trust", help="Load the job that the profile names from outside of the current directory, too."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell what changed and what would be repeated; measure nothing.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Follow a running job, and tell when it needs a recalibration.")
    ] = False,
    job: Annotated[
        str | None,
        typer.Option(
            "--job",
            metavar="RUN|FILE",
            help="With --watch: the run to follow, or a file of JSON lines with at (a moment), queue_rows and "
            "latency_ms, to which the job adds. [the newest run of the topology]",
        ),
    ] = None,
    queue: Annotated[
        str | None,
        typer.Option("--queue", metavar="ROWS", help="With --watch: longest queue. [10 s of the profile's throughput]"),
    ] = None,
    period: Annotated[
        str | None,
        typer.Option("--period", metavar="DURATION", help="With --watch: how long it must be too much. [60s]"),
    ] = None,
    settings: Settings,
) -> int:
    """Tell whether a stored profile still holds, and repeat only the steps that what changed asks for.

    Settings that are not given are those of the stored profile. Exit 0: it holds, or there is a better one now; 4: the
    noise or the budget does not let it tell. An interrupted one is gone on with by the next call.
    """
    if dry_run and watch:
        raise UsageError("--dry-run and --watch exclude each other.", hint="A watch measures nothing anyway.")
    if trust and watch:
        raise UsageError("--trust and --watch exclude each other.", hint="A watch loads no code.")
    if not watch and any(each is not None for each in (job, queue, period)):
        raise UsageError("--job, --queue and --period belong to --watch.", hint="Add --watch, or leave them out.")
    request = RecalibrateRequest(
        profile=profile,
        topology=topology,
        trust=trust,
        dry_run=dry_run,
        watch=watch,
        job=job,
        queue_rows=None if queue is None else count(least=1).read(queue, "--queue"),
        period_s=duration().read(period or "60s", "--period"),
    )

    # Last, as they import engines and statistics: wrong input is refused at once.
    if watch:
        from profiler.questions.recalibrate.watch_run import run_watch

        return run_watch(request, settings)
    from profiler.questions.recalibrate.run import run_recalibration

    return run_recalibration(request, settings)
