"""Save what a gate measured as a baseline for later gates, unless that would be no good one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from profiler.errors import ProfileError
from profiler.experiment.engine import Engine
from profiler.history.baselines import Baseline
from profiler.history.session.opening import HistorySession
from profiler.job.loading import code_place
from profiler.job.revision import clean_commit
from profiler.questions.gate.answer import Against
from profiler.questions.gate.conclusion import GateCase
from profiler.questions.gate.criteria import BASELINE, CANDIDATE
from profiler.questions.gate.request import GateRequest
from profiler.questions.gate.result import GateResult
from profiler.questions.gate.verdict import GateVerdict
from profiler.report.words import counted


def revision_to_save(request: GateRequest) -> str | None:
    """Return the commit that holds the candidate's code; None where there is none, or no git to tell.

    It is asked for before anything is measured: the work tree may be another one after it.
    """
    if request.save_baseline is None:
        return None
    try:
        return clean_commit(code_place(request.reference))
    except ProfileError:
        return None


def baseline_of(
    request: GateRequest, case: GateCase, outcome: GateResult, engine: Engine, *, run: str, revision: str | None
) -> Baseline:
    """Make a baseline of the candidate's blocks, and of those of both sides where the job met itself in turns.

    Two blocks of one version at the same time are no two values.
    """
    both = case.against is Against.ITSELF and not outcome.together
    arms = (BASELINE, CANDIDATE) if both else (CANDIDATE,)
    return Baseline(
        name=request.save_baseline or "",
        topology=case.topology,
        engine=case.engine,
        reference=request.reference,
        revision=revision,
        saved=datetime.now(UTC),
        configuration=case.configuration,
        environment=case.environment,
        loop_s=engine.platform.loop_s,
        throughput_per_s=outcome.throughput_per_s,
        blocks=tuple(replace(block, arm=BASELINE) for block in outcome.blocks if block.arm in arms),
        run=run,
    )


def with_baseline_saved(
    case: GateCase, baseline: Baseline, outcome: GateResult, *, fewest: int, to: HistorySession
) -> GateCase:
    """Save a baseline that has so many blocks at the least, and note that, or why not: an older one then stays.

    A database that does not take it must not cost the verdict, which is what the minutes were spent on.
    """
    why_not = _why_not(case, baseline, outcome, fewest)
    if why_not is not None:
        return _not_saved(case, baseline, why_not)
    try:
        to.store().save_baseline(baseline)
    except ProfileError as error:
        return replace(_not_saved(case, baseline, str(error).rstrip(".")), saving_failed=True)
    return replace(case, saved_baseline=baseline.name, saved_blocks=len(baseline.blocks))


def _not_saved(case: GateCase, baseline: Baseline, why_not: str) -> GateCase:
    return replace(case, warnings=(*case.warnings, f"baseline '{baseline.name}' was not saved: {why_not}"))


def _why_not(case: GateCase, baseline: Baseline, outcome: GateResult, fewest: int) -> str | None:
    if outcome.judgement is None:
        return "nothing was measured"
    if case.against is not Against.ITSELF and outcome.verdict is GateVerdict.SLOWER:
        return "the candidate is slower, and would hide that"
    if len(baseline.blocks) < fewest:
        return f"it has {counted(len(baseline.blocks), 'block')}, and needs {fewest}; --budget gives it more time"
    return None
