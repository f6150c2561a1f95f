"""What happens during a profile, as values: the panel shows them, the store keeps them, tests read them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from profiler.experiment.observation import BlockWindows, Observation
from profiler.experiment.rounds import Round, Trial
from profiler.job.configuration import Configuration


class Phase(StrEnum):
    """The purpose of a window."""

    WARM_UP = "warm-up"
    STRESS = "stress"
    THROTTLED = "throttled"
    PROBE = "latency probe"
    CALM = "small stream"
    BLOCK = "confirmation"
    VERIFICATION = "verification"


@dataclass(frozen=True, slots=True)
class TrialStarted:
    """A configuration is about to be deployed."""

    number: int
    trial: Trial


@dataclass(frozen=True, slots=True)
class LoadingStarted:
    """An engine is about to be loaded with a job until it is up to its speed; `name` says with which."""

    number: int
    """Counts such loads, from 1."""
    name: str
    configuration: Configuration


@dataclass(frozen=True, slots=True)
class WindowSeen:
    """A window ended; `planned` windows make up the phase, as far as that is known."""

    phase: Phase
    index: int
    planned: int
    configuration: Configuration
    observation: Observation


@dataclass(frozen=True, slots=True)
class RoundMeasured:
    """A round was measured and compared; its decision is still open."""

    round: Round


@dataclass(frozen=True, slots=True)
class RoundDecided:
    """A round has its decision."""

    round: Round


@dataclass(frozen=True, slots=True)
class SearchEnded:
    """The search has an answer that is not confirmed yet."""

    answer: Round
    initial: Round


@dataclass(frozen=True, slots=True)
class BlockStarted:
    """A block is about to be measured, or several at the same time; `name` says of which arms."""

    index: int
    planned: int
    configuration: Configuration
    name: str = ""
    together: int = 1
    """Blocks that are measured at the same time."""


@dataclass(frozen=True, slots=True)
class BlockMeasured:
    """A block that counts in a gate was measured."""

    number: int
    """The block's number from 1, without those that only prepare."""
    block: BlockWindows
    expected_per_s: float
    """Throughput by which its rates were set."""
    loop_s: float | None
    """CPU seconds of the speed index's work that the index of its windows is relative to."""


@dataclass(frozen=True, slots=True)
class VerificationStarted:
    """The answer is about to run as it would in production."""

    configuration: Configuration
    rate_per_s: float
    batch_s: float


Event = (
    TrialStarted
    | LoadingStarted
    | WindowSeen
    | RoundMeasured
    | RoundDecided
    | SearchEnded
    | BlockStarted
    | BlockMeasured
    | VerificationStarted
)
Listener = Callable[[Event], None]


def ignore(_: Event) -> None:
    """Take no notice."""
