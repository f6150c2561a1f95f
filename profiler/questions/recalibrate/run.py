"""Build what `profile recalibrate` needs, run the steps that are needed, keep and report what came of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace

from profiler.engines.catalogue import kind_of
from profiler.engines.opening import prepared_engine
from profiler.errors import ProfileError, UsageError
from profiler.experiment.clock import Deadline
from profiler.experiment.engine import Engine
from profiler.experiment.rounds import Round
from profiler.history.fingerprint.fingerprint import Fingerprint
from profiler.history.records import Run, RunState
from profiler.history.session.interrupted import interrupted
from profiler.history.session.keeping import Keeping, kept
from profiler.history.session.opening import HistorySession
from profiler.history.session.resuming import resumed
from profiler.history.store import Store
from profiler.job.loading import load_topology
from profiler.job.topology import Topology
from profiler.questions.fingerprints import (
    as_asked,
    code_of,
    fingerprint_on,
    foreseen_fingerprint,
    with_changed_constraint,
)
from profiler.questions.fitting import fitted_to
from profiler.questions.going_on import RECALIBRATES, WITH_THE_NEXT
from profiler.questions.recalibrate.conclusion import RecalibrateCase, recalibrate_answer
from profiler.questions.recalibrate.decision import (
    RecalibrationVerdict,
    decide,
    nearest,
    origin_of,
    verdict,
)
from profiler.questions.recalibrate.exports import RECALIBRATE_WRITERS
from profiler.questions.recalibrate.request import RecalibrateRequest
from profiler.questions.recalibrate.terminal import print_recalibration
from profiler.questions.recalibrate.trust import place_of_code, require_own_settings
from profiler.questions.recalibrate.warm_start import WarmStart
from profiler.questions.search.answer import Profile
from profiler.questions.search.holding import UsualSpeed, rate_that_holds
from profiler.questions.search.result import SearchResult
from profiler.questions.search.session import SearchSession, profile_run
from profiler.questions.search.stored_profile import StoredProfile
from profiler.questions.search.stored_profiles import (
    asked_profile,
    history_of,
    profile_in_file,
    warm_starts,
)
from profiler.questions.search.terms import SearchTerms
from profiler.report.console import error_console, result_console
from profiler.report.outputs import Outputs
from profiler.report.progress import Progress, progress
from profiler.services.run_folder import cache_directory
from profiler.services.run_lock import place_of
from profiler.settings.declarations import Settings
from profiler.settings.user_payloads import with_payloads
from profiler.shipped import WORKLOADS

TYPICAL_ROUNDS = 2


@dataclass(frozen=True, slots=True)
class _Job:
    """A stored profile, and the job it is of as it is now."""

    stored: StoredProfile
    topology: Topology
    reference: str
    settings: Settings
    history: HistorySession | None

    def case(self, now: Fingerprint) -> RecalibrateCase:
        """Decide what to repeat, from the nearest of all stored profiles on."""
        profiles = [self.stored]
        if self.history is not None:
            profiles = warm_starts(self.history.store(), self.stored)
        return RecalibrateCase(decide(self.stored, now), nearest(profiles, now))


@dataclass(frozen=True, slots=True)
class _Made:
    """The result of a recalibration, and whether it was kept."""

    case: RecalibrateCase
    found: SearchResult | None = None
    result: Profile | None = None
    complete: bool = True
    """Whether the history took all of it."""


def run_recalibration(request: RecalibrateRequest, settings: Settings) -> int:
    """Recalibrate a stored profile, keep what was measured, print the verdict; return the exit code."""
    outputs = Outputs.opened(settings, RECALIBRATE_WRITERS)
    given = profile_in_file(request.profile)
    with history_of(given, settings, _note(settings)) as history:
        stored = given or asked_profile(history, request.profile, settings, _note(settings))
        if not request.trust and given is not None and settings.origin("conf") == "default":
            require_own_settings(stored)
        reference = request.topology or _reference(stored)
        if request.topology is None:
            is_own = given is None and history is not None and _is_of_here(history.store(), stored)
            place = place_of_code(stored, reference, is_trusted=request.trust or is_own)
            if place is not None:
                _note(settings)(f"loading '{reference}' from {place}, as profile '{stored.run}' says")
        job = _job(stored, reference, settings, history, is_named=request.topology is not None)
        made = _foreseen(job) if request.dry_run else _measured(job)
    answer = recalibrate_answer(made.case, made.found, made.result)
    if not made.complete:
        answer = replace(answer, exit_code=ProfileError.exit_code)
    outputs.deliver(answer, lambda: print_recalibration(result_console(), answer))
    return answer.exit_code


def _note(settings: Settings) -> Callable[[str], None]:
    return lambda text: None if settings.quiet else error_console().print(text)


def _is_of_here(store: Store, stored: StoredProfile) -> bool:
    """Tell whether a profile of the history was made by this user here; others may have been imported."""
    return store.load_run(stored.run).run.place == place_of(cache_directory())


def _job(
    stored: StoredProfile, reference: str, settings: Settings, history: HistorySession | None, *, is_named: bool
) -> _Job:
    """Load the job of a stored profile, with the settings of that profile where the user made none."""
    if settings.origin("engine") != "default" and settings.engine != stored.engine:
        raise UsageError(
            f"Profile '{stored.run}' was made on {stored.engine}, not on {settings.engine}.",
            hint="Leave --engine out, or name a profile of that engine.",
        )
    settings = replace(settings, engine=kind_of(stored.engine).name)
    if stored.fingerprint is not None:
        settings = as_asked(settings, stored.fingerprint.asked)
    try:
        loaded = with_payloads(load_topology(reference), settings)
    except UsageError as error:
        if is_named or type(error) is not UsageError:
            raise
        hint = f"Profile '{stored.run}' was made of it; say where it is now: --topology TOPOLOGY."
        raise UsageError(error.message, hint=hint) from error
    if loaded.name != stored.topology:
        raise UsageError(
            f"'{reference}' is '{loaded.name}', and profile '{stored.run}' is of '{stored.topology}'.",
            hint="Name the topology that was profiled, or make a profile of this one: profile run.",
        )
    if stored.fingerprint is None:
        settings = fitted_to((loaded,), settings)
    else:
        settings = with_changed_constraint(settings, loaded, stored.fingerprint)
    return _Job(stored, loaded, reference, settings, history)


def _reference(stored: StoredProfile) -> str:
    if stored.fingerprint is not None:
        return stored.fingerprint.reference
    if stored.topology not in WORKLOADS:
        raise UsageError(
            f"Profile '{stored.run}' does not say where '{stored.topology}' is.", hint="Name it: --topology TOPOLOGY."
        )
    return stored.topology


def _foreseen(job: _Job) -> _Made:
    """Decide without an engine."""
    before = job.stored.fingerprint
    if before is None:
        decided = decide(job.stored, Fingerprint(job.reference, {}, {}, {}, {}, {}, stated_slots=True))
        return _Made(RecalibrateCase(decided, decided))
    return _Made(job.case(foreseen_fingerprint(job.topology, job.reference, job.settings, before)))


def _measured(job: _Job) -> _Made:
    """Open the engine, decide, measure and keep."""
    settings, topology = job.settings, job.topology
    terms = SearchTerms.of(settings)
    time_left = terms.time_left(settings, rounds=TYPICAL_ROUNDS)
    title = f"recalibrate {topology.name} on {settings.engine}"
    with (
        progress(error_console(), title, time_left, quiet=settings.quiet) as watcher,
        prepared_engine(topology, settings, watcher.note) as opening,
        # The history is closed after the engine: what it could not take meanwhile may then have time and space.
        ExitStack() as stack,
        opening as engine,
    ):
        now = fingerprint_on(engine, topology, job.reference, settings)
        case = job.case(now)
        watcher.say(case.decided.why)
        keeping = stack.enter_context(_kept(_run(job, case, engine, now), job.history, watcher))
        session = SearchSession.begun(engine, topology, terms, now, keeping)
        now = session.fingerprint
        case = replace(case, decided=replace(case.decided, warm=case.decided.warm.at_speed(now.loop_s)))
        warm, scope = case.decided.warm, case.decided.scope
        ending = Deadline.within(terms.limits.ends_s if terms.budget_s is None else terms.budget_s)
        profile = session.searched(WarmStart(warm.rounds, scope, only_fewer_slots=case.decided.only_fewer_slots))
        if verdict(warm, profile) is RecalibrationVerdict.CHANGED and not settings.quick:
            batch_s, constraint = settings.production_batch_s, terms.parameters.constraint
            found = rate_that_holds(
                engine,
                topology,
                profile.answer,
                constraint,
                batch_s,
                usual=UsualSpeed.of(profile.rounds),
                deadline=ending,
                report=keeping.report,
            )
            profile = replace(profile, holding=found)
        ratios = {} if warm.fingerprint is None else warm.fingerprint.ratios
        # The history keeps a profile like others, with what it was recalibrated from.
        result = session.kept(
            profile, fingerprint=replace(now, ratios=ratios), recalibration=origin_of(case.decided, profile)
        )
    measured = result.fingerprint or now
    told = replace(case.asked, differences=decide(case.asked.warm, measured).differences)
    return _Made(replace(case, asked=told), profile, result, keeping.complete)


def _run(job: _Job, case: RecalibrateCase, engine: Engine, now: Fingerprint) -> Run:
    """Return the record of a recalibration; all that was asked is in it, so that the next call finds it again."""
    also = {RECALIBRATES: case.decided.warm.run, "scope": str(case.decided.scope)}
    anew = replace(job.settings, resume=None)
    return profile_run(job.topology, anew, engine, code_of(now), policy=WarmStart.name, also=also)


def _kept(run: Run, history: HistorySession | None, watcher: Progress) -> AbstractContextManager[Keeping[Round]]:
    """Keep a recalibration in the history; go on with the one that asked the same and did not come to its end."""
    past = interrupted(run, history, resumed, states=(RunState.UNFINISHED, RunState.CUT_SHORT))
    if past is None:
        return kept(run, history, watcher, resume=None, way_on=WITH_THE_NEXT)
    watcher.say(f"going on with recalibration {past.run.id}")
    return kept(past.run, history, watcher, resume=resumed, way_on=WITH_THE_NEXT)
