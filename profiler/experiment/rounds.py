"""The words of a profile: a trial is asked for, a round is what came of it, a decision says what follows from it.

A round carries why: action, reference, test, effect, decision and doubts, so that a stored history can be read by a
person and replayed through a policy without an engine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from profiler.experiment.constraint import LatencyConstraint
from profiler.experiment.observation import Detail, Measurement
from profiler.job.configuration import Configuration
from profiler.statistics.result import Comparison


class Step(StrEnum):
    """The step of the method that a round belongs to."""

    TODAY = "today"
    FEATURES = "features"
    PLATFORM = "platform"
    CAPACITY = "capacity"
    GIVE_BACK = "give-back"
    STORED = "stored"
    """The answer of a stored profile, measured again."""
    SEARCH = "search"
    """The search of a policy that knows no steps."""


class Action(StrEnum):
    """What a trial changes against its reference."""

    TODAY = "today"
    START = "start"
    SLOTS = "slot programme"
    SOURCE = "source + 1"
    SINKS = "sinks + R"
    THROTTLE = "throttle"
    ENHANCE = "enhance"
    EXCHANGE = "exchange"
    GIVE_BACK = "give back"
    STORED = "stored answer"
    JUMP = "jump"
    """A configuration that a policy computed as a whole."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One configuration that a policy wants measured, and against which round."""

    configuration: Configuration
    step: Step
    action: Action
    against: int | None = None
    """Number of the round it is compared with, the one that the decision on it is about; None where that is about
    something else, or there is nothing to compare with."""
    predicted_per_s: float | None = None
    """The capacity that the policy expects, which sets the first stress rate."""
    detail: Detail = Detail.LIGHT
    calm: bool = False
    """Whether a small stream is observed as well, for the application's features."""
    fused: bool = False
    """Whether the job runs as written today, without extra shuffles."""
    effort: int = 1
    """The factor of the number of windows, where a finer comparison is needed."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy makes of the last round; `incumbent` is the best round so far that may be the answer."""

    accepted: bool
    why: str
    incumbent: int


@dataclass(frozen=True, slots=True)
class Round:
    """One trial, measured."""

    number: int
    trial: Trial
    measurement: Measurement
    comparison: Comparison | None = None
    decision: Decision | None = None

    def decided(self, decision: Decision) -> Round:
        """Return the round with its decision."""
        return replace(self, decision=decision)

    @property
    def configuration(self) -> Configuration:
        """Tasks that were measured."""
        return self.measurement.configuration

    @property
    def throughput_per_s(self) -> float:
        """Mean throughput of the round."""
        return self.measurement.throughput_per_s

    def meets(self, constraint: LatencyConstraint) -> bool:
        """Tell whether the probe's processing latency keeps the constraint; a round without a probe does not.

        A job that lets hardly a row through can't be held to a latency that no row told.
        """
        latency = self.measurement.latency_ms
        return self.measurement.latency_unknown if latency is None else constraint.is_met_by(latency)

    def kept_per_s(self, constraint: LatencyConstraint) -> float:
        """Return the highest rate probed that kept the constraint; 0 where none did.

        Rounds of older versions were probed at one rate only.
        """
        measurement = self.measurement
        if measurement.kept_per_s is not None:
            return measurement.kept_per_s
        return measurement.latency_at_per_s or 0.0 if self.meets(constraint) else 0.0
