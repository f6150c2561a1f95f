"""`profile gate TOPOLOGY`: tell whether this version is slower than another."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from profiler.cli.flags import with_settings
from profiler.errors import UsageError
from profiler.job.loading import load_topology
from profiler.questions.gate.request import GateRequest
from profiler.settings.declarations import Settings
from profiler.settings.option import Command
from profiler.settings.quantities import ratio
from profiler.settings.user_payloads import with_payloads


@with_settings(
    Command.GATE,
    told={
        "budget": "All of it ends within this time, Spark included. [no limit; on Spark 6m]",
        "resume": "Go on with this interrupted gate, whatever was measured since. [the newest of the same]",
        "export": "Write a report as json, csv, md or junit; repeatable. [none]",
    },
)
def gate(
    topology: Annotated[
        str,
        typer.Argument(metavar="TOPOLOGY", help="The candidate: a workload, module:attribute or file.py:attribute."),
    ],
    *,
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="NAME", help="Compare with a stored baseline.")
    ] = None,
    against: Annotated[
        str | None, typer.Option("--against", metavar="TOPOLOGY", help="Compare with another topology.")
    ] = None,
    against_rev: Annotated[
        str | None, typer.Option("--against-rev", metavar="REV", help="Compare with TOPOLOGY at a git revision.")
    ] = None,
    aa: Annotated[bool, typer.Option("--aa", help="Compare it with itself: what could be seen?")] = False,
    save_baseline: Annotated[
        str | None,
        typer.Option("--save-baseline", metavar="NAME", help="Store what was measured, unless it is slower."),
    ] = None,
    drill: Annotated[
        str | None,
        typer.Option(
            "--drill", metavar="PART", help="Make its largest operator work that much longer: 1 if it is seen, else 4."
        ),
    ] = None,
    tasks: Annotated[
        str | None,
        typer.Option(
            "--tasks", metavar="NAME=N,…", help="Tasks to run with. [the baseline's, else today's, else one each]"
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Compare with a baseline that was measured elsewhere.")
    ] = False,
    anew: Annotated[
        bool, typer.Option("--anew", help="Measure all blocks, also where the same gate was interrupted.")
    ] = False,
    settings: Settings,
) -> int:
    """Tell whether a job got slower: exit 0 for pass, 1 for slower, 4 where the noise does not let it tell.

    Where it can't tell, or misses a drill, it says how many blocks would. A latency that rose although no operator
    takes longer is told, and fails nothing.

    Both versions are measured in short blocks, at the same time where the engine and its slots allow it, else in turn.
    On Spark all of it ends within --budget, six minutes unless it is set: the last block ends 25 s before. What was
    interrupted goes on after its last block when the same is called again within an hour; --anew starts over. A drill
    always does.
    """
    _check_one("--baseline", "--against", "--against-rev", "--aa", given=(baseline, against, against_rev, aa))
    if "" in (baseline, save_baseline):
        raise UsageError("A baseline has no name.", hint="Is a variable of the script empty? Name it: main, say.")
    if drill is not None and save_baseline is not None:
        raise UsageError("--drill and --save-baseline exclude each other.", hint="A drilled job is no baseline.")
    if drill is not None and aa:
        raise UsageError("--drill and --aa exclude each other.", hint="A drill alone compares with the job itself.")
    if not any((baseline, against, against_rev, aa, drill, save_baseline)):
        raise UsageError(
            f"There is nothing to compare '{topology}' with.",
            hint="Name it: --against-rev REV, --against TOPOLOGY or --baseline NAME, or --save-baseline NAME first.",
        )
    if drill is not None and settings.resume is not None:
        raise UsageError(
            "--drill and --resume exclude each other.", hint="A drill is calibrated anew: leave --resume out."
        )
    _check_one("--resume", "--anew", given=(settings.resume, anew), hint="Go on, or start over.")
    ruled_out = _rule_out(settings)
    drilled = None if drill is None else ratio(zero=False).read(drill, "--drill")
    loaded = with_payloads(load_topology(topology), settings)
    request = GateRequest(
        reference=topology,
        topology=loaded,
        tasks=None if tasks is None else _tasks(tasks),
        baseline=baseline,
        against=against,
        against_rev=against_rev,
        aa=aa,
        save_baseline=save_baseline,
        drill=drilled,
        rule_out=ruled_out,
        force=force,
        anew=anew,
    )

    # Last, as it imports engines and statistics: wrong input is refused at once.
    from profiler.questions.gate.run import run_gate

    return run_gate(request, settings)


def _check_one(*flags: str, given: tuple[object, ...], hint: str = "Compare with one thing at a time.") -> None:
    used = [flag for flag, value in zip(flags, given, strict=True) if value]
    if len(used) > 1:
        raise UsageError(f"{' and '.join(used)} exclude each other.", hint=hint)


def _rule_out(settings: Settings) -> float:
    """Settle what a pass rules out."""
    if settings.rule_out is None:
        return 2 * settings.max_slowdown
    if settings.rule_out < settings.max_slowdown:
        shown = ratio(zero=False).show
        raise UsageError(
            f"--rule-out {shown(settings.rule_out)} is below --max-slowdown {shown(settings.max_slowdown)}.",
            hint="A pass rules out what would fail.",
        )
    return settings.rule_out


def _tasks(written: str) -> dict[str, int]:
    """Read `lines=1,count=4`."""
    tasks: dict[str, int] = {}
    for pair in written.split(","):
        match = re.fullmatch(r"\s*(\S.*?)\s*=\s*([0-9]+)\s*", pair)
        if match is None or int(match[2]) < 1:
            raise UsageError(
                f"--tasks is '{written}', not a number of tasks for each name.", hint="Write it like lines=1,count=4."
            )
        tasks[match[1]] = int(match[2])
    return tasks
