"""`profile run TOPOLOGY`: the three steps, ending with the best configuration."""

from __future__ import annotations

from typing import Annotated

import typer

from profiler.cli.flags import with_settings
from profiler.job.loading import load_topology
from profiler.job.slots import smallest_configuration
from profiler.settings.declarations import Settings
from profiler.settings.option import Command
from profiler.settings.user_payloads import with_payloads


@with_settings(Command.RUN)
def run(
    topology: Annotated[
        str,
        typer.Argument(
            metavar="TOPOLOGY",
            help="A workload's name (linear, 'linear?depth=6'), module:attribute or file.py:attribute.",
        ),
    ],
    *,
    settings: Settings,
) -> int:
    """Find the best configuration of a topology: tasks per operator, throughput, latency, settings to paste."""
    loaded = with_payloads(load_topology(topology), settings)
    smallest_configuration(loaded, settings.slots)

    # Last, as it imports engines and policies: wrong input is refused at once.
    from profiler.questions.search.run import run_profile

    return run_profile(loaded, settings, topology)
