"""What settings may be where they are one of a few: engines, policies, kinds of noise, formats of a report."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class EngineName(StrEnum):
    """The engine that the topology runs on; values are called as the folders of the engines."""

    SPARK = "spark"
    SIMULATED = "simulated"


class PolicyName(StrEnum):
    """The policy that searches the configuration; members are called as the modules of the policies."""

    STEPWISE = "stepwise"
    THRESHOLD = "threshold"
    STELA = "stela"
    DS2 = "ds2"
    SLOT_JUMP = "slots"
    EXHAUSTIVE = "exhaustive"


class NoiseName(StrEnum):
    """The kind of machine that the simulated engine plays."""

    QUIET = "quiet"
    SHARED = "shared"
    HOSTILE = "hostile"
    DISTURBED = "disturbed"
    BATCHED = "batched"


class ExportKind(StrEnum):
    """Formats of a written report."""

    JSON = "json"
    CSV = "csv"
    MD = "md"
    JUNIT = "junit"


@dataclass(frozen=True, slots=True)
class Export:
    """A report to write, and where."""

    kind: ExportKind
    path: str

    def __str__(self) -> str:
        return f"{self.kind}={self.path}"


def export(written: str) -> Export:
    """Read KIND=FILE."""
    kind, separator, path = written.partition("=")
    if not separator or not path.strip():
        raise ValueError(written)
    return Export(ExportKind(kind.strip()), path.strip())
