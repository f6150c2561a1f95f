"""The result of a search: what it found, how sure it is, and every round that led to it."""

from __future__ import annotations

from dataclasses import dataclass

from profiler.experiment.engine import Platform
from profiler.experiment.rounds import Round
from profiler.job.topology import Topology
from profiler.questions.search.holding import HoldingRate
from profiler.questions.search.policies.policy import SearchContext
from profiler.statistics.result import Comparison


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The answer against another round, interleaved; the effect is the answer's."""

    against: int
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search: what it found, and every round that led to it."""

    topology: Topology
    context: SearchContext
    platform: Platform
    extra_slots: int
    """Slots that the engine needs for this topology beside its tasks."""
    policy: str
    rounds: tuple[Round, ...]
    answer: Round
    initial: Round
    """The round of today's job where it was measured, else of one task each."""
    confirmations: tuple[Confirmation, ...] = ()
    notes: tuple[str, ...] = ()
    holding: HoldingRate | None = None
    """The rate that the answer holds; None before that was looked for."""
    complete: bool = True
    """Whether the search ended by itself; False where the time budget ended it."""
    is_warm: bool = False
    """Whether the engine was loaded; not so where all rounds are of an earlier session."""

    @property
    def gain(self) -> float:
        """Throughput of the answer over the initial one, minus 1, as the search saw it."""
        return self.answer.throughput_per_s / self.initial.throughput_per_s - 1

    def keeps_latency(self, measured: Round) -> bool:
        """Tell whether a round keeps the latency constraint."""
        return measured.meets(self.context.parameters.constraint)

    @property
    def against_initial(self) -> Comparison | None:
        """The confirmed comparison with the initial configuration, if there is one."""
        return next((made.comparison for made in self.confirmations if made.against == self.initial.number), None)
