"""A stored baseline: the blocks of a job that a gate compares later versions with, and where they were measured.

The speed index is relative to its own run. `loop_s` tells what it is relative to, so that blocks of two runs on one
machine can be brought to one measure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from profiler.configuration import Configuration
from profiler.documents import plain
from profiler.errors import ProfileError
from profiler.observation import BlockWindows
from profiler.store.records import read_document, without_secrets

SCHEMA = "profile-baseline/1"


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a version of a job did, kept under a name; topology, engine and name tell baselines apart."""

    name: str
    topology: str
    engine: str
    reference: str
    """TOPOLOGY as it was named."""
    revision: str | None
    """The git commit that holds its code; None where there is none, or the code had changes."""
    saved: datetime
    configuration: Configuration
    environment: Mapping[str, str]
    """The fingerprint of where it ran."""
    loop_s: float | None
    """What the speed index's loop took at speed 1; None where the index is absolute."""
    throughput_per_s: float
    blocks: tuple[BlockWindows, ...]

    def blocks_at(self, loop_s: float | None) -> tuple[BlockWindows, ...]:
        """Return the blocks with their speed index relative to another run's loop."""
        if not loop_s or not self.loop_s:
            return self.blocks
        factor = loop_s / self.loop_s
        return tuple(
            replace(
                block,
                windows=tuple(replace(each, speed_index=each.speed_index * factor) for each in block.windows),
                probe=tuple(replace(each, speed_index=each.speed_index * factor) for each in block.probe),
            )
            for block in self.blocks
        )


def baseline_document(baseline: Baseline) -> dict[str, Any]:
    """Turn a baseline into a document."""
    saved = baseline.saved.astimezone(UTC).isoformat()
    document: dict[str, Any] = without_secrets(plain({"schema": SCHEMA, **asdict(baseline), "saved": saved}))
    return document


def baseline_from(document: Mapping[str, Any]) -> Baseline:
    """Turn a document back into the baseline it came from; refuse one of another schema."""
    if document.get("schema") != SCHEMA:
        raise ProfileError(
            f"The baseline '{document.get('name')}' has schema {document.get('schema')!r}, not {SCHEMA!r}.",
            hint="Save it again with --save-baseline.",
        )
    return read_document(_adapter(), document, "baseline")


@cache
def _adapter() -> TypeAdapter[Baseline]:
    return TypeAdapter(Baseline)
