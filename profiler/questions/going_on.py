"""How a run that broke off is gone on with: the sentence that a command ends with, and the call that goes on."""

from __future__ import annotations

from profiler.history.records import Run, RunKind

RECALIBRATES = "recalibrates"
"""The parameter of a recalibration that names the profile it started from."""

WITH_RESUME = "{what} 1 to {done} are kept: add --resume {run} to go on after them."
WITH_THE_SAME = "What was measured is kept: call the same again to go on after it."
WITH_THE_NEXT = "The rounds so far are kept: the next 'profile recalibrate' goes on after them."


def call_to_go_on(run: Run) -> str:
    """Return the call that goes on with a run."""
    if run.kind is RunKind.COMPARE:
        return "the same 'profile compare'"
    if recalibrated := run.parameters.get(RECALIBRATES):
        return f"'profile recalibrate {recalibrated}'"
    command = "gate" if run.kind is RunKind.GATE else "run"
    return f"'profile {command} TOPOLOGY --resume {run.id}'"
