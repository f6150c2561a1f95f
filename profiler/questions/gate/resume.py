"""A gate as the history knows it: all that was asked, so that blocks of another question are never gone on with."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from datetime import UTC, datetime

from profiler.experiment.engine import Engine
from profiler.experiment.window_plan import WindowPlan
from profiler.history.baselines import Baseline
from profiler.history.fingerprint.digests import digest
from profiler.history.fingerprint.fingerprint import fingerprint_of
from profiler.history.records import MeasuredBlock, Run, RunKind
from profiler.history.session.interrupted import interrupted
from profiler.history.session.keeping import Keeping, kept, new_run_id
from profiler.history.session.opening import HistorySession
from profiler.history.session.resuming import resumed_blocks
from profiler.job.topology import Topology
from profiler.questions.gate.conclusion import GateCase
from profiler.questions.gate.request import GateRequest
from profiler.questions.gate.sides import Opponent
from profiler.questions.going_on import WITH_RESUME
from profiler.report.documents import plain
from profiler.report.progress import Progress
from profiler.report.words import counted
from profiler.settings.declarations import Settings


def gate_run(
    request: GateRequest,
    settings: Settings,
    case: GateCase,
    other: Opponent,
    stored: Baseline | None,
    design: WindowPlan,
    engine: Engine,
) -> Run:
    """Return the record of a gate that is about to be measured."""
    started = datetime.now(UTC)
    return Run(
        id=settings.resume or new_run_id(started),
        topology=case.topology,
        engine=case.engine,
        policy="",
        parameters={
            "reference": request.reference,
            "against": f"{case.against} {case.baseline}",
            "tasks": case.configuration.tasks,
            "candidate's code": _code(request.topology, engine),
            "baseline's code": _code(other.topology, engine) if other.topology is not None else _saved(stored),
            "max_slowdown": case.limits.max_slowdown,
            "rule_out": case.limits.rule_out,
            "drill": request.drill,
            "blocks": design.blocks,
            "windows": f"{design.block_warm_up}, {design.block}, {design.block_probe}",
        },
        environment=dict(case.environment),
        started=started,
        kind=RunKind.GATE,
    )


def kept_gate(
    run: Run, history: HistorySession | None, watcher: Progress, *, resumes: bool, anew: bool
) -> AbstractContextManager[Keeping[MeasuredBlock]]:
    """Keep a gate block by block, where there is a history; `resumes` where the run is the name of one to go on with.

    One of the same that broke off a while ago is gone on with by itself, unless all is to be measured `anew`. A drill
    is not: it is calibrated each time, and blocks of two burdens would not be of one candidate.
    """
    is_drill = run.parameters["drill"] is not None
    way_on = None if is_drill else WITH_RESUME
    past = None if resumes or anew or is_drill else interrupted(run, history, resumed_blocks)
    if past is not None:
        done = counted(past.done, "block")
        watcher.say(f"going on with gate {past.run.id}, which was interrupted after {done}; --anew starts over")
        run = past.run
    resume = resumed_blocks if resumes or past is not None else None
    return kept(run, history, watcher, resume=resume, way_on=way_on)


def _code(topology: Topology, engine: Engine) -> str:
    """Tell versions of a topology apart by one word."""
    taken = fingerprint_of(topology, topology.name, engine.name, engine.platform, slots=engine.platform.slots)
    text = json.dumps([plain(taken.application), plain(taken.declared)], sort_keys=True)
    return digest(text)


def _saved(stored: Baseline | None) -> str:
    """Tell stored blocks apart, of which there is no code."""
    return "" if stored is None else f"blocks saved at {stored.saved.isoformat()}"
