"""A gate as the history knows it: all that was asked, so that blocks of another question are never gone on with."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from profiler.experiment.engine import Engine
from profiler.experiment.window_plan import WindowPlan
from profiler.history.baselines import Baseline
from profiler.history.fingerprint.digests import digest
from profiler.history.fingerprint.fingerprint import fingerprint_of
from profiler.history.records import Run, RunKind
from profiler.history.session.keeping import new_run_id
from profiler.job.topology import Topology
from profiler.questions.gate.conclusion import GateCase
from profiler.questions.gate.request import GateRequest
from profiler.questions.gate.sides import Opponent
from profiler.report.documents import plain
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


def _code(topology: Topology, engine: Engine) -> str:
    """Tell versions of a topology apart by one word."""
    taken = fingerprint_of(topology, topology.name, engine.name, engine.platform, slots=engine.platform.slots)
    text = json.dumps([plain(taken.application), plain(taken.declared)], sort_keys=True)
    return digest(text)


def _saved(stored: Baseline | None) -> str:
    """Tell stored blocks apart, of which there is no code."""
    return "" if stored is None else f"blocks saved at {stored.saved.isoformat()}"
