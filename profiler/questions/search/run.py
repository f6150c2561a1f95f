"""Build what `profile run` needs from the settings, run it, keep it, report it."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime
from typing import Any

from profiler import __version__
from profiler.engines.catalogue import kind_of
from profiler.engines.opening import prepared_engine, time_left_of
from profiler.errors import ProfileError
from profiler.experiment.engine import Engine
from profiler.experiment.window_plan import WindowPlan
from profiler.history.records import Run
from profiler.history.session.keeping import kept, new_run_id
from profiler.history.session.opening import OpenStore, opened_history
from profiler.history.session.resuming import resumed
from profiler.job.topology import Topology
from profiler.questions.fingerprints import code_of, fingerprint_on
from profiler.questions.fitting import fitted_to
from profiler.questions.search.conclusion import profile_of
from profiler.questions.search.document import profile_document
from profiler.questions.search.exports import PROFILE_WRITERS
from profiler.questions.search.loop import Loop, TimeLimits
from profiler.questions.search.policies import POLICIES
from profiler.questions.search.policies.policy import Parameters
from profiler.questions.search.terminal import print_profile
from profiler.questions.windows import fewer_of
from profiler.report.console import error_console, result_console
from profiler.report.outputs import Outputs
from profiler.report.progress import Progress, progress
from profiler.settings.declarations import COSTS, Settings
from profiler.settings.option import Ability

QUICK_WINDOWS = 5
LONGEST_COLD = 2.5
"""The longest load of a new engine in times --warm-up: the first round tells what every operator costs, and a JVM that
compiles makes all of it dearer."""
SEARCH_S = 360.0
CONFIRMED_S = 590.0
"""Seconds within which an answer is confirmed. All of it is to end in twelve minutes: starting takes 20 s before, a
verification up to 100 s after."""
QUICK_BUDGET_S = 210.0
"""Seconds for the rounds of a quick profile; the services and the session take up to 20 s before, closing them takes
some after."""


def run_profile(topology: Topology, settings: Settings, reference: str) -> int:
    """Profile a topology, keep what was measured, print the answer; return the exit code.

    `reference` is TOPOLOGY as it was written: a recalibration loads the job by it.
    """
    settings = fitted_to((topology,), settings)
    outputs = Outputs.opened(settings, PROFILE_WRITERS)
    design, parameters = search_design(settings), policy_parameters(settings)
    batch_s = None if settings.quick else settings.production_batch_s
    budget_s = search_budget_s(settings)
    limits = time_limits(settings)
    time_left = time_left_of(settings, design, batch_s=batch_s, budget_s=budget_s or limits.search_s)
    title = f"profile {topology.name} on {settings.engine}"
    with (
        progress(error_console(), title, time_left, quiet=settings.quiet) as watcher,
        prepared_engine(topology, settings, watcher.note) as opening,
        # The database first: it starts at once, and one that does not answer must not cost a wait for Spark.
        run_history(settings, watcher) as open_store,
        # The history is closed after the engine: what it could not take meanwhile may then have time and space.
        ExitStack() as stack,
        opening as engine,
    ):
        # Taken before anything is measured: the code of a long profile may change under it.
        fingerprint = fingerprint_on(engine, topology, reference, settings)
        run = profile_run(topology, settings, engine, code_of(fingerprint))
        resume = None if settings.resume is None else resumed
        history = stack.enter_context(kept(run, open_store, watcher, resume=resume))
        measure_as_before(engine, history.run)
        loop = Loop(
            engine,
            topology,
            POLICIES[settings.policy](),
            parameters=parameters,
            design=design,
            report=history.report,
            slots=settings.slots,
            budget_s=budget_s,
            limits=limits,
            production_batch_s=batch_s,
        )
        profile = profile_of(
            loop.run(history.past),
            run=history.run.id,
            engine=engine.name,
            environment=environment_of(engine),
            fingerprint=replace(fingerprint, loop_s=engine.platform.loop_s),
        )
        history.keep_result(profile_document(profile))
    # Nobody finds a run again that was not kept.
    is_kept = open_store is not None
    outputs.deliver(profile, lambda: print_profile(result_console(), profile, is_kept=is_kept))
    return 0 if history.complete else ProfileError.exit_code


def search_design(settings: Settings) -> WindowPlan:
    """Return how long to look: `--quick` looks shorter and leaves the answer unconfirmed."""
    if settings.quick:
        return WindowPlan(windows=min(QUICK_WINDOWS, settings.windows), probe=2, calm=3, blocks=0)
    blocks = WindowPlan().blocks if settings.confirm else 0
    design = WindowPlan(windows=settings.windows, blocks=blocks, longest_cold=LONGEST_COLD)
    return fewer_of(design, settings.window_s)


def search_budget_s(settings: Settings) -> float | None:
    """Return how long a profile may take: `--quick` promises an answer in four minutes, however slow the machine is."""
    return QUICK_BUDGET_S if settings.budget_s is None and settings.quick else settings.budget_s


def time_limits(settings: Settings) -> TimeLimits:
    """Return by when search and confirmation on Spark are to end where the user set no time.

    Longer windows make longer rounds, and longer searches.
    """
    is_timed = kind_of(settings.engine).has(Ability.REAL_TIME)
    if not is_timed or settings.budget_s is not None or settings.quick:
        return TimeLimits()
    longer = max(1.0, settings.window_s / Settings().window_s)
    return TimeLimits(longer * SEARCH_S, longer * CONFIRMED_S)


def policy_parameters(settings: Settings) -> Parameters:
    """Return the method's knobs as the user set them."""
    knobs = [knob.name for knob in fields(Parameters) if hasattr(settings, knob.name)]
    return Parameters(**{knob: getattr(settings, knob) for knob in knobs})


def environment_of(engine: Engine) -> dict[str, Any]:
    """Return the facts of the platform that a result holds for."""
    return {
        "profile": __version__,
        "python": platform.python_version(),
        "cores": engine.platform.cores,
        "nodes": engine.platform.nodes,
        "slots": engine.platform.slots,
        "machine_cores": os.cpu_count(),
        **engine.platform.versions,
    }


def _conditions(settings: Settings) -> dict[str, Any]:
    """Return what else rounds must have in common to belong to one run, where the user asked for it."""
    asked = {option: getattr(settings, option.field) for option in COSTS}
    return {
        option.key: [option.kind.show(each) for each in value] if option.repeatable else value
        for option, value in asked.items()
        if value
    }


def measure_as_before(engine: Engine, run: Run) -> None:
    """Let the speed indices of a run that is gone on with have one measure in all its sessions."""
    if run.loop_s is not None:
        engine.measure_speed_by(run.loop_s)


def profile_run(topology: Topology, settings: Settings, engine: Engine, code: str = "") -> Run:
    """Return the record of a profile that is about to be measured, with all that was asked."""
    started = datetime.now(UTC)
    parameters = {**asdict(policy_parameters(settings)), "windows": search_design(settings).windows}
    return Run(
        id=settings.resume or new_run_id(started),
        topology=topology.name,
        engine=engine.name,
        policy=settings.policy,
        parameters={**parameters, **_conditions(settings), "window_s": engine.window_s},
        environment=environment_of(engine),
        started=started,
        code=code,
        loop_s=engine.platform.loop_s,
    )


@contextmanager
def run_history(settings: Settings, watcher: Progress) -> Iterator[OpenStore | None]:
    """Open the history; a simulated run needs no server, and is kept only where one is named."""
    if settings.mongo is None and settings.resume is None and not kind_of(settings.engine).has(Ability.HISTORY):
        yield None
        return
    with opened_history(settings, watcher.note) as open_store:
        yield open_store
