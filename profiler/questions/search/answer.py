"""A profile as one value: the answer of a search, how sure it is, what it holds for, and every round that led to it.

It is what `profile run --json` writes, and it can be made again from its document (`document.py`): the terminal, the
exports, the history and a recalibration read this value, so that they cannot say different things. The published
schema `profile-1.schema.json` is generated from it. Keys may be added; those that are here stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema

from profiler.experiment.observation import Latency
from profiler.experiment.rounds import Round, Step
from profiler.history.fingerprint.fingerprint import VERSION, Fingerprint, fingerprint_document
from profiler.history.migrations import RESULT, ROUND
from profiler.job.configuration import Configuration
from profiler.job.topology import Output
from profiler.questions.search.bound import Bound
from profiler.questions.search.disturbances import RoundDisturbance
from profiler.questions.search.holding import Basis
from profiler.questions.search.paste import PasteSettings
from profiler.questions.search.policies.policy import Parameters
from profiler.questions.search.readings.operator_class import OperatorClass, TimeParts
from profiler.questions.search.verification import Verification
from profiler.report.documents import OMITTED_IF_NONE, written_as
from profiler.report.published import Count, Figure, NotTold, Portion, Published, Tally, Tasks, Text
from profiler.statistics.result import Comparison

AN_OBJECT = WithJsonSchema({"type": "object"})
"""What is inside is this program's own affair, and may change."""
PublishedComparison = Annotated[
    Comparison,
    Published(
        optional=("n_reference", "n_candidate"),
        figures=("effect", "low", "high", "detectable_effect"),
        properties={"p": {"type": "number", "minimum": 0, "maximum": 1}},
    ),
]
PublishedVerification = Annotated[
    Verification,
    Published(optional=("latency_quantile", "came_through_per_s", "end_to_end_ms", "machine_speed")),
]


def _current_round(document: Any) -> Any:
    return ROUND.current(document) if isinstance(document, Mapping) else document


def _read_fingerprint(document: Any) -> Any:
    """Pass over what another version wrote; all else is looked at key by key."""
    return None if isinstance(document, Mapping) and document.get("version") != VERSION else document


KeptRound = Annotated[Round, BeforeValidator(_current_round), AN_OBJECT]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileElement:
    """What step 1 learned of a source or an operator."""

    __pydantic_config__ = ConfigDict(alias_generator=lambda name: name.rstrip("_"))

    min_latency_ms: float
    cpu_us_per_row: float
    selectivity: float | NotTold = None
    output: Output
    dominated: bool = False
    """Whether its input does not grow with the load."""
    class_: OperatorClass | None = None
    """The class; None where what its time goes into was not seen."""
    time: TimeParts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileEdge:
    """How many of all rows that are handed over take one edge."""

    __pydantic_config__ = ConfigDict(alias_generator=lambda name: name.rstrip("_"))

    from_: str
    to: str
    relative_size: Portion


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileFeatures:
    """What step 1 learned of the application."""

    operators: Mapping[str, ProfileElement]
    edges: tuple[ProfileEdge, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileBest:
    """The configuration that a profile names, and what was seen of it."""

    round: Count | NotTold = None
    """Number of the round that gave it."""
    tasks: Tasks
    slots: Count
    offered_per_s: float | None
    """The rate to which the source is to be throttled; None where it need not be."""
    throughput_per_s: float
    throughput_interval_per_s: tuple[Figure, Figure] | None = None
    """The 95 % interval of the throughput."""
    latency_ms: Latency | None
    """The processing latency, from the read at the source to the sink: the constraint bounds it."""
    end_to_end_ms: Latency | None = None
    """The latency from the time that a message was due to the sink; None where it was not measured."""
    keeps_latency: bool | NotTold = None
    holds: str = ""
    """A sentence on what bounds it and where it carries over."""
    bound: Bound | NotTold = None
    state_rows: dict[str, Tally] = field(default_factory=dict)
    """Rows of state at the end of its round, by operator that keeps some."""

    @property
    def configuration(self) -> Configuration:
        """The tasks, with the rate they are to be offered."""
        return Configuration.of(self.tasks, self.offered_per_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRate:
    """The highest rate at which the best holds: the latency is kept and the queue does not grow."""

    holds_per_s: float | None
    """The highest rate that held; None where none did."""
    fails_at_per_s: float | None
    """The lowest rate that did not hold; None where none was tried, or all held."""
    planned_per_s: float | None
    """The rate to plan with: what holds, less the headroom."""
    headroom: Portion
    basis: Basis
    """What it was seen in: batches as in production, or a few short windows."""
    batch_s: float | None
    """Length of production's batches that it was looked for with."""
    probes: tuple[PublishedVerification, ...] = ()
    """The batches that were run, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileInitial:
    """Today's job where it was measured, else one task each."""

    round: Count | NotTold = None
    tasks: Tasks = field(default_factory=dict)
    throughput_per_s: float
    keeps_latency: bool | NotTold = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRound:
    """One round of the search: what was tried, what was found and what was decided."""

    number: Count
    step: str
    action: str
    against: Count | None = None
    """Number of the round that it is compared with."""
    tasks: Tasks
    offered_per_s: float = 0.0
    """Rate of the stress stream."""
    throughput_per_s: Annotated[tuple[float, ...], Field(min_length=1)]
    """Rows per second of every window."""
    latency_ms: Latency | None = None
    comparison: PublishedComparison | None
    decision: Literal["accepted", "revoked"] | None
    why: str = ""
    warnings: tuple[str, ...]
    record: KeptRound | NotTold = None
    """The round as it was measured, so that a policy can be run over it again."""
    disturbance: RoundDisturbance | NotTold = field(default=None, metadata=OMITTED_IF_NONE)
    """What disturbed it, where something did."""

    @property
    def mean_per_s(self) -> float:
        """Mean throughput of the round."""
        return sum(self.throughput_per_s) / len(self.throughput_per_s)

    @property
    def configuration(self) -> Configuration:
        """Tasks that were measured, with the rate they were offered at the most."""
        return Configuration.of(self.tasks) if self.record is None else self.record.configuration

    @property
    def fused(self) -> bool:
        """Tell whether the job ran as it is written today."""
        return self.record is not None and self.record.trial.fused


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileOrigin:
    """What a profile that `profile recalibrate` made was recalibrated from."""

    of: str
    """The run that the warm start comes from."""
    scope: str
    full_rounds: int
    """Rounds that the profile took which first found it."""
    start: KeptRound | None
    """The round with the features, where they were kept and not measured again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a profile found, and every round that led to it."""

    schema: Annotated[str, WithJsonSchema({"const": RESULT.mark})] = RESULT.mark
    run: Text
    topology: Text
    engine: Text
    policy: Text
    parameters: Parameters = field(default_factory=Parameters)
    complete: bool = True
    """Whether the search ended by itself; False where the time budget ended it."""
    features: ProfileFeatures | None
    best: ProfileBest
    initial: ProfileInitial
    gain: float
    """Throughput of the best over the initial one, minus 1, as the search saw it."""
    confirmed: PublishedComparison | None
    """The best against the initial one in interleaved blocks."""
    rate: ProfileRate | NotTold = field(default=None, metadata=OMITTED_IF_NONE)
    """The highest rate that holds, which is what can be relied on; None in profiles before it was looked for."""
    verified: PublishedVerification | None = None
    """The batch at that rate that was the worst, or the last one that failed where no rate holds; None where none was
    run."""
    rounds: Annotated[tuple[ProfileRound, ...], Field(min_length=1)]
    settings: PasteSettings
    environment: Mapping[str, Any]
    """Facts of the platform."""
    warnings: tuple[str, ...]
    fingerprint: Annotated[Fingerprint | None, BeforeValidator(_read_fingerprint), AN_OBJECT] = field(
        default=None, metadata=OMITTED_IF_NONE | written_as(fingerprint_document)
    )
    """The fingerprint of what the answer holds for, to tell later what changed; None in profiles before there were
    any."""
    recalibration: Annotated[ProfileOrigin | None, AN_OBJECT] = field(default=None, metadata=OMITTED_IF_NONE)

    @property
    def answer(self) -> ProfileRound | None:
        """The round that gave the best; None where an older document does not tell."""
        return self._numbered(self.best.round)

    @property
    def records(self) -> tuple[Round, ...]:
        """The rounds as they were measured, as far as they were kept."""
        return tuple(each.record for each in self.rounds if each.record is not None)

    @property
    def operators(self) -> tuple[str, ...]:
        """The elements that are no sources."""
        return tuple(name for name in self.best.tasks if name not in self.settings.kafka_partitions)

    @property
    def is_as_before(self) -> bool:
        """Tell whether the answer is the very round that the search began with."""
        return self.answer is not None and self.best.round == self.initial.round

    @property
    def is_late(self) -> bool:
        """Tell whether the gain compares an answer that keeps the latency constraint with a start that does not."""
        return self.best.keeps_latency is True and self.initial.keeps_latency is False

    @property
    def only_offers_less(self) -> bool:
        """Tell whether the answer is the initial configuration at a lower rate, so that there is no gain to confirm."""
        answer, initial = self.answer, self._numbered(self.initial.round)
        if answer is None or initial is None or self.best.offered_per_s is None or not self.is_late:
            return False
        return (answer.tasks, answer.fused) == (initial.tasks, initial.fused)

    @property
    def is_over_today(self) -> bool:
        """Tell whether the gain is over today's job."""
        initial = self._numbered(self.initial.round)
        return initial is not None and initial.step == Step.TODAY

    def warnings_besides(self, element: str | None) -> tuple[str, ...]:
        """Return the warnings without that on the key of one element, which was told already."""
        return tuple(each for each in self.warnings if not each.startswith(f"'{element}': "))

    def _numbered(self, number: int | None) -> ProfileRound | None:
        return next((each for each in self.rounds if each.number == number), None)
