"""Kinds of engines: what can be known of one before it is opened, and how it is opened.

A new engine is a folder here, whose module `kind` declares its `KIND`, and its name in `EngineName`, by which the
folder is found. Nobody else asks for names: a command asks for an ability. No kind imports anything heavy before it is
asked, so that wrong input is refused at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module

from profiler.experiment.engine import Engine, Platform
from profiler.job.topology import Topology
from profiler.settings.choices import EngineName
from profiler.settings.declarations import DEFAULTS, OPTIONS, Settings
from profiler.settings.option import Ability

Note = Callable[[str], None]
Opening = AbstractContextManager[Engine]
"""A context that starts the engine when entered, and closes it with all that it stands on."""


@dataclass(frozen=True, slots=True)
class Room:
    """The room that an engine would run a topology in."""

    master: str
    slots: int | None
    """Tasks that run at once there; None for a cluster, which is not asked."""
    by_default: bool = False
    """Whether the user named no master."""


@dataclass(frozen=True, slots=True)
class KnownPlatform:
    """The platform that a stored profile was made on: what only a cluster could tell is taken from it."""

    facts: Mapping[str, str]
    loop_s: float | None
    """CPU time that the speed indices of that profile are relative to."""


@dataclass(frozen=True, slots=True)
class FittingWindows:
    """Windows that a job needs where the user did not say how long to look."""

    window_s: float
    windows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineKind:
    """One kind of engine; the module's text says where it is declared."""

    name: EngineName
    abilities: frozenset[Ability]
    lacking: str
    """Why settings that need another ability change nothing: the beginning of a sentence."""
    prepared: Callable[[Sequence[Topology], Settings, Note], AbstractContextManager[Opening]]
    """A function that finds all that the engine stands on, fetching what is missing; it refuses what it could not
    run."""
    foreseen: Callable[[Topology, Settings, KnownPlatform], tuple[Platform, int]]
    """A function that tells what the engine would be on, and the slots that it would give the topology, without
    starting anything."""
    room: Callable[[Settings], Room]
    """A function that tells where the settings would let it run."""
    fitting_windows: Callable[[Topology], FittingWindows | None]
    """A function that tells the windows that a topology needs; None where the usual ones will do."""
    inner_topics: Callable[[Topology, Mapping[str, int]], dict[str, int]]
    """A function that lays the topology out: partitions of the topics between its queries, by the operator that reads
    them."""

    def has(self, ability: Ability) -> bool:
        """Tell whether it can do something, or is something, that not all engines can or are."""
        return ability in self.abilities

    def unused(self, settings: Settings) -> list[str]:
        """Name the flags of settings that somebody made and that change nothing here."""
        needless = [option for option in OPTIONS if option.needs is not None and not self.has(option.needs)]
        return [
            option.flag for option in needless if getattr(settings, option.field) != getattr(DEFAULTS, option.field)
        ]


def kind_of(name: str) -> EngineKind:
    """Find a kind by the name of its engine."""
    kind: EngineKind = import_module(f"profiler.engines.{EngineName(name)}.kind").KIND
    return kind
