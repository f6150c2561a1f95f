"""Build what `profile run` needs from the settings, run it, keep it, report it."""

from __future__ import annotations

from contextlib import ExitStack

from profiler.engines.opening import prepared_engine
from profiler.errors import ProfileError
from profiler.history.session.keeping import kept
from profiler.history.session.resuming import resumed
from profiler.job.topology import Topology
from profiler.questions.fingerprints import code_of, fingerprint_on
from profiler.questions.fitting import fitted_to
from profiler.questions.going_on import WITH_RESUME
from profiler.questions.needed_history import needed_history
from profiler.questions.search.exports import PROFILE_WRITERS
from profiler.questions.search.policies import POLICIES
from profiler.questions.search.session import SearchSession, profile_run
from profiler.questions.search.terminal import print_profile
from profiler.questions.search.terms import SearchTerms
from profiler.report.console import error_console, result_console
from profiler.report.outputs import Outputs
from profiler.report.progress import progress
from profiler.settings.declarations import Settings


def run_profile(topology: Topology, settings: Settings, reference: str) -> int:
    """Profile a topology, keep what was measured, print the answer; return the exit code.

    `reference` is TOPOLOGY as it was written: a recalibration loads the job by it.
    """
    settings = fitted_to((topology,), settings)
    outputs = Outputs.opened(settings, PROFILE_WRITERS)
    terms = SearchTerms.of(settings)
    batch_s = None if settings.quick else settings.production_batch_s
    title = f"profile {topology.name} on {settings.engine}"
    with (
        progress(error_console(), title, terms.time_left(settings, batch_s=batch_s), quiet=settings.quiet) as watcher,
        prepared_engine(topology, settings, watcher.note) as opening,
        # The database first: it starts at once, and one that does not answer must not cost a wait for Spark.
        needed_history(settings, watcher.note) as history,
        # The history is closed after the engine: what it could not take meanwhile may then have time and space.
        ExitStack() as stack,
        opening as engine,
    ):
        fingerprint = fingerprint_on(engine, topology, reference, settings)
        run = profile_run(topology, settings, engine, code_of(fingerprint))
        resume = None if settings.resume is None else resumed
        keeping = stack.enter_context(kept(run, history, watcher, resume=resume, way_on=WITH_RESUME))
        session = SearchSession.begun(engine, topology, terms, fingerprint, keeping)
        profile = session.kept(session.searched(POLICIES[settings.policy](), production_batch_s=batch_s))
    # Nobody finds a run again that was not kept.
    is_kept = history is not None
    outputs.deliver(profile, lambda: print_profile(result_console(), profile, is_kept=is_kept))
    return 0 if keeping.complete else ProfileError.exit_code
