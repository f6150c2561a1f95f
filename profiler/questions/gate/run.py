"""Build what `profile gate` needs from the request, run it, keep and report what came of it."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import replace

from profiler.engines.catalogue import kind_of
from profiler.engines.opening import prepared_engine, time_left_of
from profiler.experiment.comparing.turns import looks
from profiler.experiment.engine import Engine
from profiler.history.baselines import Baseline, block_at
from profiler.history.fingerprint.digests import conf_digest, data_digests
from profiler.history.fingerprint.environment import fingerprint
from profiler.history.session.opening import HistorySession
from profiler.history.session.resuming import in_another_session
from profiler.questions.fitting import fitted_to
from profiler.questions.gate.answer import Against
from profiler.questions.gate.conclusion import GateCase, gate_answer
from profiler.questions.gate.document import gate_document
from profiler.questions.gate.experiment import DESIGN, Drill, GateExperiment, Side, StoredSide, side_by_side
from profiler.questions.gate.exports import GATE_WRITERS
from profiler.questions.gate.request import GateRequest
from profiler.questions.gate.result import GateResult
from profiler.questions.gate.resume import gate_run, kept_gate
from profiler.questions.gate.save_baseline import baseline_of, revision_to_save, with_baseline_saved
from profiler.questions.gate.sides import Opponent, configured, opponent, other_tasks, require_allowed, wanted_tasks
from profiler.questions.gate.terminal import print_gate
from profiler.questions.gate.verdict import GateLimits
from profiler.questions.needed_history import needed_history
from profiler.questions.windows import fewer_of
from profiler.report.console import error_console, result_console
from profiler.report.outputs import Outputs
from profiler.report.progress import progress
from profiler.settings.declarations import Settings
from profiler.settings.option import Ability

BUDGET_S = 360.0
"""The budget in seconds of a gate with real windows, where none is set: for all of the command, until Spark has
ended."""
TURNS, TWO_AT_A_TIME = "turns", "two at a time"
"""The names of the ways in which blocks were measured, where it was not one after the other."""
CLOSING_S = 25.0
"""Seconds of the budget that blocks may not use: Spark, broker and database take up to 15 s to end, Python a few to
start."""


def run_gate(request: GateRequest, settings: Settings) -> int:
    """Run a gate, keep it and the baseline where asked, print the verdict; return the exit code."""
    started_s = time.monotonic()
    settings = fitted_to((request.topology,), settings)
    is_real_time = kind_of(settings.engine).has(Ability.REAL_TIME)
    outputs = Outputs.opened(settings, GATE_WRITERS)
    design = fewer_of(replace(DESIGN, blocks=settings.blocks), settings.window_s)
    title = f"gate {request.topology.name} on {settings.engine}"
    time_left = time_left_of(settings, design, whole_s=settings.budget_s or BUDGET_S, rounds=1, arms=2)
    with (
        progress(error_console(), title, time_left, quiet=settings.quiet) as watcher,
        prepared_engine(request.topology, settings, watcher.note) as opening,
        # The database first: it starts at once, and a baseline that is not there must not cost a wait for Spark.
        needed_history(settings, watcher.note, request.baseline, request.save_baseline) as history,
        # The history is closed after the engine, as in a profile.
        ExitStack() as stack,
    ):
        stored, revision = _loaded(request, settings, history), revision_to_save(request)
        with opponent(request, stored, runs_functions=kind_of(settings.engine).has(Ability.FUNCTIONS)) as other:
            tasks = wanted_tasks(request, other.topology, stored)
            require_allowed(request.topology, request.tasks or {})
            candidate = Side("candidate", request.topology, configured(request.topology, tasks))
            with opening as engine:
                baseline_side = _side(other, tasks, stored, engine)
                case = _case(request, settings, candidate, baseline_side, other, stored, engine)
                if other.topology is not None:
                    differ = other_tasks(candidate.configuration, configured(other.topology, tasks))
                    case = replace(case, warnings=(*case.warnings, *differ))
                run = gate_run(request, settings, case, other, stored, design, engine)
                keeping = stack.enter_context(
                    kept_gate(run, history, watcher, resumes=settings.resume is not None, anew=request.anew)
                )
                outcome = GateResult(None, interleaved=other.topology is not None)
                if request.force or not case.differences:
                    outcome = GateExperiment(
                        engine,
                        baseline_side,
                        candidate,
                        limits=case.limits,
                        design=design,
                        drill=_drill(request, settings),
                        report=keeping.report,
                        note=watcher.say,
                        ends_s=ends_by_s(settings, started_s),
                        past=[block_at(engine.platform.loop_s, past.block, past.loop_s) for past in keeping.past],
                        past_expected_per_s=keeping.past[0].expected_per_s if keeping.past else None,
                        same_code=other.same_code,
                    ).run()
                took_s = time.monotonic() - started_s + CLOSING_S if is_real_time else None
                case = replace(case, took_s=took_s, warnings=(*case.warnings, *in_another_session(keeping.past)))
                if history is not None and request.save_baseline is not None:
                    baseline = baseline_of(request, case, outcome, engine, run=keeping.run.id, revision=revision)
                    case = with_baseline_saved(case, baseline, outcome, fewest=looks(design.blocks)[0][0], to=history)
                answer = gate_answer(case, outcome, run=keeping.run.id)
                keeping.keep_result(gate_document(answer))
    outputs.deliver(answer, lambda: print_gate(result_console(), answer))
    return answer.exit_code


def ends_by_s(settings: Settings, started_s: float) -> float | None:
    """Return when the last block has to have ended, on the clock."""
    if not kind_of(settings.engine).has(Ability.REAL_TIME):
        return None if settings.budget_s is None else started_s + settings.budget_s
    return started_s + (settings.budget_s or BUDGET_S) - CLOSING_S


def _loaded(request: GateRequest, settings: Settings, history: HistorySession | None) -> Baseline | None:
    if history is None or request.baseline is None:
        return None
    return history.store().load_baseline(request.topology.name, settings.engine, request.baseline)


def _case(
    request: GateRequest,
    settings: Settings,
    candidate: Side,
    baseline: Side | StoredSide,
    other: Opponent,
    stored: Baseline | None,
    engine: Engine,
) -> GateCase:
    asked = {"data": ", ".join(data_digests(request.topology).values()), "conf": conf_digest(settings)}
    together = side_by_side(engine, baseline, candidate)
    if together or (stored is not None and TURNS in stored.environment):
        asked[TURNS] = TWO_AT_A_TIME if together else "in turn"
    there = None if stored is None or other.kind is Against.ITSELF else stored.environment
    if there is not None and other.topology is not None:
        there = {**there, **asked}  # it is run again, with the candidate's own
    return GateCase(
        topology=request.topology.name,
        engine=engine.name,
        configuration=candidate.configuration,
        against=other.kind,
        baseline=other.name,
        limits=GateLimits(settings.max_slowdown, request.rule_out),
        environment={**fingerprint(engine), **asked},
        baseline_environment=there,
        warnings=other.warnings,
        only_saves=request.saves_only,
    )


def _side(other: Opponent, tasks: dict[str, int], stored: Baseline | None, engine: Engine) -> Side | StoredSide:
    if other.topology is not None:
        return Side("baseline", other.topology, configured(other.topology, tasks))
    if stored is None:
        raise AssertionError(other)
    return StoredSide(
        other.name,
        stored.blocks_at(engine.platform.loop_s),
        stored.throughput_per_s,
        had_company=stored.environment.get(TURNS) == TWO_AT_A_TIME,
    )


def _drill(request: GateRequest, settings: Settings) -> Drill | None:
    if request.drill is None:
        return None
    return Drill(request.drill, runs_functions=kind_of(settings.engine).has(Ability.FUNCTIONS))
