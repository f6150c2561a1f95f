"""Show one run of a history as the command did that it is of."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from profiler.errors import UsageError
from profiler.experiment.rounds import Round
from profiler.history.mongo.opening import opened_store
from profiler.history.records import RunKind, StoredRun
from profiler.history.terminal import when
from profiler.questions.compare.document import read_comparison
from profiler.questions.compare.terminal import print_comparison
from profiler.questions.gate.document import read_gate
from profiler.questions.gate.terminal import print_gate
from profiler.questions.going_on import call_to_go_on
from profiler.questions.search.document import read_profile
from profiler.questions.search.terminal import print_profile
from profiler.report.console import result_console
from profiler.report.rounds_table import RoundsTable
from profiler.report.words import counted
from profiler.report.writers import as_json as written
from profiler.settings.declarations import Settings


def show_run(run: str, settings: Settings, *, as_json: bool) -> int:
    """Show a run: its answer and its rounds with what was decided, or the verdict of a gate."""
    with opened_store(settings) as store:
        found, rounds, result = store.load_run(run), store.rounds(run), store.result(run)
    if as_json:
        if result is None:
            raise UsageError(f"Run '{run}' is unfinished, so it has no result.", hint="Leave --json out to see it.")
        sys.stdout.write(written(result))
        return 0
    console = result_console()
    console.print(
        f"Run {run}: {found.run.topology} on {found.run.engine}{_how(found)}, started {when(found)}", style="bold"
    )
    if result is None:
        _print_unfinished(found, rounds)
    else:
        _print_result(found, result)
    return 0


def _how(found: StoredRun) -> str:
    if found.run.policy:
        return f" by {found.run.policy}"
    against = found.run.parameters.get("against")
    if not isinstance(against, str):
        return ""
    kind, _, name = against.partition(" ")  # of a job that met itself both are "itself"
    return f" against {name if kind == name else against}"


def _print_result(found: StoredRun, result: Mapping[str, Any]) -> None:
    if found.run.kind is RunKind.COMPARE:
        print_comparison(result_console(), read_comparison(result))
    elif found.run.kind is RunKind.GATE:
        print_gate(result_console(), read_gate(result))
    else:
        print_profile(result_console(), read_profile(result))


def _print_unfinished(found: StoredRun, rounds: Sequence[Round]) -> None:
    console = result_console()
    done = f" after {counted(found.blocks, 'block')}" if found.blocks else ""
    console.print(f"  unfinished{done}: {call_to_go_on(found.run)} goes on with it")
    if rounds:
        console.print(RoundsTable(list(rounds)), soft_wrap=False)
