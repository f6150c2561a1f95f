"""Open the engine that the settings ask for, with everything it stands on, and close all of it.

In two steps, so that what is missing is told before anything is started: the first one finds, the second one starts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from profiler.engines.catalogue import EngineKind, KnownPlatform, Note, Opening, kind_of
from profiler.errors import UsageError
from profiler.experiment.engine import Engine, Platform
from profiler.experiment.window_plan import WindowPlan
from profiler.job.topology import Topology
from profiler.report.time_left import ARMS, TYPICAL_ROUNDS, TimeLeft
from profiler.settings.declarations import Settings
from profiler.settings.option import Ability
from profiler.settings.user_payloads import with_payloads


@contextmanager
def opened_engine(topology: Topology, settings: Settings, note: Note) -> Iterator[Engine]:
    """Yield the engine, ready to deploy; `note` hears what takes time."""
    with prepared_engine(topology, settings, note) as opening, opening as engine:
        yield engine


@contextmanager
def prepared_engine(
    topology: Topology, settings: Settings, note: Note, others: Sequence[Topology] = ()
) -> Iterator[Opening]:
    """Find all that the engine stands on, fetching what is missing; what is yielded starts the engine when entered.

    `others` run on it as well, with data of their own where their sources name other data. A source that is not known
    here, as it is another version's, gets the rows of the one with its name.
    """
    kind = kind_of(settings.engine)
    topologies = [with_payloads(each, settings) for each in (topology, *others)]
    for each in topologies:
        _check_prefill(each, settings, kind)
    unused = kind.unused(settings)
    if unused:
        note(f"{kind.lacking}: {', '.join(unused)} changes nothing")
    with kind.prepared(topologies, settings, note) as opening:
        yield opening


def foreseen_platform(topology: Topology, settings: Settings, known: KnownPlatform) -> tuple[Platform, int]:
    """Tell what the engine would be on, and the slots that it would give the topology, without starting anything."""
    kind = kind_of(settings.engine)
    _check_prefill(topology, settings, kind)
    return kind.foreseen(topology, settings, known)


def _check_prefill(topology: Topology, settings: Settings, kind: EngineKind) -> None:
    """Refuse to load keys where no state would hold them."""
    if settings.prefill is None:
        return
    if not kind.has(Ability.STATE):
        raise UsageError(
            f"The {kind.name} engine keeps no state that --prefill could fill.", hint="Leave --prefill out."
        )
    if not any(operator.stateful for operator in topology.operators):
        raise UsageError(
            f"No operator of '{topology.name}' is stateful, so there is nothing that --prefill could fill.",
            hint="Leave --prefill out, or say stateful=True where an operator keeps state.",
        )


def time_left_of(
    settings: Settings,
    design: WindowPlan,
    *,
    batch_s: float | None = None,
    budget_s: float | None = None,
    whole_s: float | None = None,
    rounds: int = TYPICAL_ROUNDS,
    arms: int = ARMS,
) -> TimeLeft | None:
    """Return who guesses the time left; nobody where windows are simulated, which takes no time."""
    if not kind_of(settings.engine).has(Ability.REAL_TIME):
        return None
    return TimeLeft(
        design,
        settings.window_s,
        cold_s=settings.warm_up_s,
        batch_s=batch_s,
        budget_s=budget_s,
        whole_s=whole_s,
        rounds=rounds,
        arms=arms,
    )
