"""The JSON lines between parent and generator, one dataclass for each.

Parent to child: first the `Setup`, then any number of `SetRate` and at last `Stop`. A closed pipe means that the
parent is gone. Child to parent: `GeneratorReport`s, four a second, and a `Failure` before it ends by an error.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass

from profiler.errors import UsageError

REPORT_S = 0.25
"""Seconds between two reports."""


@dataclass(frozen=True, slots=True)
class Target:
    """A topic, the workload file that is replayed into it, and its part of the rate."""

    topic: str
    payloads: str
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Setup:
    """What a generator sends and where to; it starts at rate 0."""

    address: str
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class SetRate:
    """Offer this rate, summed over the targets, from now on."""

    rate: float
    seconds: float | None = None
    """Seconds after which it ends, with exactly rate × seconds messages; None goes on."""
    abandon: bool = False
    """Whether what is still owed at the old rate is given up instead of caught up with."""

    def __post_init__(self) -> None:
        """Refuse what cannot be offered, before it reaches a generator."""
        if not (math.isfinite(self.rate) and self.rate >= 0):
            raise UsageError(f"A rate of {self.rate} messages per second cannot be offered.", hint="Give one from 0.")
        if self.seconds is not None and not (math.isfinite(self.seconds) and self.seconds > 0):
            raise UsageError(f"No message can be sent in {self.seconds} seconds.", hint="Give a time above 0.")


@dataclass(frozen=True, slots=True)
class Stop:
    """Offer nothing more, wait for what is on its way, report once more and end."""

    stop: bool = True


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a generator ended by itself."""

    message: str
    hint: str
    exit_code: int


@dataclass(frozen=True, slots=True)
class GeneratorReport:
    """What a generator has done since its start, all counts summed over the targets."""

    time_s: float
    """Seconds since the epoch at which the counts hold."""
    rate_per_s: float
    offered: int
    """Messages that were due."""
    sent: int
    """Messages that were given to the client's queue."""
    acked: int
    """Messages that the broker has."""
    abandoned: int
    """Messages that were due and will not be sent."""
    errors: int
    """Messages that the broker refused or never acknowledged."""
    behind_s: float
    """Seconds since which the oldest message that is not sent has been due; about 0 while the generator keeps up."""
    queue_full: int
    """The number of times that the client's queue was full: the broker, not the generator, is then what limits."""
    cpu_s: float
    """CPU seconds of the generating process."""


FromParent = SetRate | Stop
FromChild = GeneratorReport | Failure


def to_line(message: Setup | FromParent | FromChild) -> str:
    """Write a message as one line."""
    return json.dumps(asdict(message)) + "\n"


def read_setup(line: str) -> Setup:
    """Read the first line to a child."""
    content = json.loads(line)
    return Setup(content["address"], tuple(Target(**target) for target in content["targets"]))


def read_command(line: str) -> FromParent:
    """Read a later line to a child."""
    content = json.loads(line)
    return Stop(**content) if "stop" in content else SetRate(**content)


def read_report(line: str) -> FromChild:
    """Read a line from a child."""
    content = json.loads(line)
    return Failure(**content) if "message" in content else GeneratorReport(**content)
