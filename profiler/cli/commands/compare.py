"""`profile compare A B …`: tell which variant of a job is the fastest, each at its own best configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from profiler.cli.flags import with_settings
from profiler.errors import UsageError
from profiler.job.slots import smallest_configuration
from profiler.questions.compare.request import CompareRequest
from profiler.questions.compare.variants import Job, load_jobs
from profiler.settings.declarations import Settings
from profiler.settings.option import Command


@with_settings(Command.COMPARE)
def compare(
    variants: Annotated[
        list[str],
        typer.Argument(metavar="VARIANT", help="Two or more: workloads, module:attribute or file.py:attribute."),
    ],
    *,
    equal_slots: Annotated[
        bool, typer.Option("--equal-slots", help="Give all no more slots than the most frugal one uses.")
    ] = False,
    anew: Annotated[bool, typer.Option("--anew", help="Profile every variant, whatever is stored.")] = False,
    settings: Settings,
) -> int:
    """Rank variants of a job: exit 0 where the fastest is known or they tie, 4 where the noise does not let it tell.

    Each is profiled to its own best configuration first, unless a stored profile still fits. Then all are measured in
    turn, in blocks, under the same conditions. --slots bounds what each may use. What was interrupted goes on when the
    same is called again.
    """
    if len(variants) < 2:
        raise UsageError(
            f"There is nothing to compare '{' '.join(variants)}' with.", hint="Name two or more: profile compare A B."
        )
    request = CompareRequest(_jobs(variants, settings), equal_slots=equal_slots, anew=anew)

    # Last, as it imports engines and statistics: wrong input is refused at once.
    from profiler.questions.compare.run import run_comparison

    return run_comparison(request, settings)


def _jobs(references: Sequence[str], settings: Settings) -> tuple[Job, ...]:
    jobs = load_jobs(references, settings)
    for job in jobs:
        smallest_configuration(job.topology, settings.slots)
    return jobs
