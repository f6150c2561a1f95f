"""Build what `profile run` needs from the settings, run it, keep it, report it."""

from __future__ import annotations

import os
import platform
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from profiler import __version__
from profiler.cli.console import error_console, result_console
from profiler.cli.engines import prepared_engine, time_left_of
from profiler.cli.outputs import Outputs
from profiler.engines import Engine
from profiler.errors import ProfileError
from profiler.events import Event, Report, RoundDecided
from profiler.loop import Loop
from profiler.measure import Design
from profiler.policies import POLICIES
from profiler.policies.policy import Parameters
from profiler.report.json_document import profile_document
from profiler.report.progress import Progress, progress
from profiler.report.terminal import print_profile
from profiler.rounds import Round
from profiler.settings import EngineName, Settings
from profiler.store.keeper import Keeper
from profiler.store.records import Run
from profiler.topology import Topology

if TYPE_CHECKING:
    from profiler.services.mongo import Mongo

QUICK_WINDOWS = 5


def run_profile(topology: Topology, settings: Settings) -> int:
    """Profile a topology, keep what was measured, print the answer; return the exit code."""
    outputs = Outputs.opened(settings)
    design, parameters = search_design(settings), policy_parameters(settings)
    batch_s = None if settings.quick else settings.production_batch_s
    time_left = time_left_of(settings, design, batch_s=batch_s)
    title = f"profile {topology.name} on {settings.engine}"
    with (
        progress(error_console(), title, time_left, quiet=settings.quiet) as watcher,
        prepared_engine(topology, settings, watcher.note) as opening,
        # The database first: it starts at once, and one that does not answer must not cost a wait for Spark.
        _database(settings, watcher) as mongo,
        # The history is closed after the engine: what it could not take meanwhile may then have time and space.
        ExitStack() as kept,
        opening as engine,
    ):
        run = _run(topology, settings, engine, {**asdict(parameters), "windows": design.windows})
        history = kept.enter_context(_kept(run, settings, mongo, watcher))
        loop = Loop(
            engine,
            topology,
            POLICIES[settings.policy](),
            parameters=parameters,
            design=design,
            report=history.report,
            slots=settings.slots,
            budget_s=settings.budget_s,
            production_batch_s=batch_s,
        )
        profile = loop.run(history.rounds)
        document = profile_document(profile, run=history.run.id, engine=engine.name, environment=environment_of(engine))
        history.keep_result(document)
    outputs.write(document)
    if not outputs.json_on_stdout:
        print_profile(result_console(), profile, run=history.run.id, engine=engine.name)
    return 0 if history.complete else ProfileError.exit_code


def search_design(settings: Settings) -> Design:
    """Return how long to look: `--quick` looks shorter and leaves the answer unconfirmed."""
    if settings.quick:
        return Design(windows=min(QUICK_WINDOWS, settings.windows), probe=2, calm=3, blocks=0)
    return Design(windows=settings.windows, blocks=Design().blocks if settings.confirm else 0)


def policy_parameters(settings: Settings) -> Parameters:
    """Return the method's knobs as the user set them."""
    return Parameters(
        latency_ms=settings.latency_ms,
        latency_quantile=settings.latency_quantile,
        slice=settings.slice,
        stop_factor=settings.stop_factor,
        alpha=settings.alpha,
        relevant_effect=settings.relevant_effect,
        give_back=settings.give_back,
    )


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


class _History:
    """Where a run is kept: its record, the rounds it goes on from, and who hears of new ones."""

    def __init__(
        self, run: Run, rounds: Sequence[Round], report: Report, keep_result: Callable[[dict[str, Any]], None]
    ) -> None:
        self.run = run
        self.rounds = rounds
        self.report = report
        self.keep_result = keep_result
        self.complete = True
        """False where the database did not take all of it, and a file has the rest."""


def _run(topology: Topology, settings: Settings, engine: Engine, parameters: dict[str, Any]) -> Run:
    started = datetime.now(UTC)
    return Run(
        id=settings.resume or f"{started:%Y%m%d-%H%M%S}-{secrets.token_hex(4)}",
        topology=topology.name,
        engine=engine.name,
        policy=settings.policy,
        parameters={**parameters, "window_s": engine.window_s},
        environment=environment_of(engine),
        started=started,
    )


@contextmanager
def _database(settings: Settings, watcher: Progress) -> Iterator[Mongo | None]:
    """Open MongoDB; a simulated run needs no server, and is kept only where one is named."""
    if settings.engine is EngineName.SIMULATED and settings.mongo is None and settings.resume is None:
        yield None
        return
    from profiler.services.mongo import open_mongo
    from profiler.services.run_folder import cache_directory
    from profiler.store.mongo import MongoStore

    with open_mongo(settings.mongo, cache_directory(), report=watcher.note) as mongo:
        # One that can't be written, or holds another version's history, is told now as well.
        MongoStore(mongo.uri).close()
        yield mongo


@contextmanager
def _kept(run: Run, settings: Settings, mongo: Mongo | None, watcher: Progress) -> Iterator[_History]:
    """Keep the run in the database, where there is one, and go on with a stored one where asked."""
    if mongo is None:
        yield _History(run, (), watcher, lambda _: None)
        return
    from profiler.services.run_folder import cache_directory
    from profiler.store.mongo import open_revived
    from profiler.store.resuming import resumed
    from profiler.store.unsaved import unsaved_path

    unsaved = unsaved_path(cache_directory(), run.id)
    rounds: Sequence[Round] = ()
    if settings.resume is not None:
        with closing(open_revived(mongo)) as store:
            run, rounds = resumed(store, run, unsaved)
    keeper = Keeper(lambda: open_revived(mongo), run, unsaved)
    decided = len(rounds)

    def report(event: Event) -> None:
        nonlocal decided
        watcher(event)
        keeper(event)
        if isinstance(event, RoundDecided):
            decided = max(decided, event.round.number)

    history = _History(run, rounds, report, keeper.keep_result)
    with keeper:
        try:
            yield history
        except BaseException:
            if decided:
                error_console().print(f"Rounds 1 to {decided} are kept: add --resume {run.id} to go on after them.")
            raise
        finally:
            if left := str(keeper.close()):
                history.complete = False
                error_console().print(left)
