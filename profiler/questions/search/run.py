"""Build what `profile run` needs from the settings, run it, keep it, report it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from profiler.engines.catalogue import kind_of
from profiler.engines.opening import prepared_engine
from profiler.errors import ProfileError
from profiler.history.session.keeping import kept
from profiler.history.session.opening import OpenStore, opened_history
from profiler.history.session.resuming import resumed
from profiler.job.topology import Topology
from profiler.questions.fingerprints import code_of, fingerprint_on
from profiler.questions.fitting import fitted_to
from profiler.questions.search.exports import PROFILE_WRITERS
from profiler.questions.search.policies import POLICIES
from profiler.questions.search.session import SearchSession, profile_run
from profiler.questions.search.terminal import print_profile
from profiler.questions.search.terms import SearchTerms
from profiler.report.console import error_console, result_console
from profiler.report.outputs import Outputs
from profiler.report.progress import Progress, progress
from profiler.settings.declarations import Settings
from profiler.settings.option import Ability


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
        run_history(settings, watcher) as open_store,
        # The history is closed after the engine: what it could not take meanwhile may then have time and space.
        ExitStack() as stack,
        opening as engine,
    ):
        fingerprint = fingerprint_on(engine, topology, reference, settings)
        run = profile_run(topology, settings, engine, code_of(fingerprint))
        resume = None if settings.resume is None else resumed
        history = stack.enter_context(kept(run, open_store, watcher, resume=resume))
        session = SearchSession.begun(engine, topology, terms, fingerprint, history)
        profile = session.kept(session.searched(POLICIES[settings.policy](), production_batch_s=batch_s))
    # Nobody finds a run again that was not kept.
    is_kept = open_store is not None
    outputs.deliver(profile, lambda: print_profile(result_console(), profile, is_kept=is_kept))
    return 0 if history.complete else ProfileError.exit_code


@contextmanager
def run_history(settings: Settings, watcher: Progress) -> Iterator[OpenStore | None]:
    """Open the history; a simulated run needs no server, and is kept only where one is named."""
    if settings.mongo is None and settings.resume is None and not kind_of(settings.engine).has(Ability.HISTORY):
        yield None
        return
    with opened_history(settings, watcher.note) as open_store:
        yield open_store
