"""A stored baseline: the blocks of a job that a gate compares later versions with, and where they were measured.

The speed index is relative to its own run. `loop_s` tells what it is relative to, so that blocks of two runs on one
machine can be brought to one measure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from profiler.errors import ProfileError
from profiler.experiment.observation import BlockWindows
from profiler.history.migrations import BASELINE
from profiler.history.records import read_document, without_secrets
from profiler.history.unreadable import Spoiled, Unreadable, ignored
from profiler.job.configuration import Configuration
from profiler.report.documents import plain


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a version of a job did, kept under a name; topology, engine and name tell baselines apart."""

    name: str
    topology: str
    engine: str
    reference: str
    """The TOPOLOGY argument as it was named."""
    revision: str | None
    """The git commit that holds its code; None where there is none, or the code had changes."""
    saved: datetime
    configuration: Configuration
    environment: Mapping[str, str]
    """The fingerprint of where it ran."""
    loop_s: float | None
    """CPU seconds that the speed index's work took at speed 1; None where the index is absolute."""
    throughput_per_s: float
    blocks: tuple[BlockWindows, ...]
    run: str | None = None
    """The gate that measured it, where that was kept."""

    def blocks_at(self, loop_s: float | None) -> tuple[BlockWindows, ...]:
        """Return the blocks with their speed index relative to another run's loop."""
        return tuple(block_at(loop_s, block, self.loop_s) for block in self.blocks)


@dataclass(frozen=True, slots=True)
class SavedBaseline:
    """A baseline as a list shows it."""

    name: str
    topology: str
    engine: str
    saved: datetime
    run: str | None


def block_at(loop_s: float | None, block: BlockWindows, measured_loop_s: float | None) -> BlockWindows:
    """Return a block with its speed index relative to another run's loop."""
    if not loop_s or not measured_loop_s:
        return block
    factor = loop_s / measured_loop_s
    return replace(
        block,
        windows=tuple(replace(each, speed_index=each.speed_index * factor) for each in block.windows),
        probe=tuple(replace(each, speed_index=each.speed_index * factor) for each in block.probe),
    )


def baseline_document(baseline: Baseline) -> dict[str, Any]:
    """Turn a baseline into a document."""
    saved = baseline.saved.astimezone(UTC).isoformat()
    document: dict[str, Any] = without_secrets(plain({"schema": BASELINE.mark, **asdict(baseline), "saved": saved}))
    return document


def baseline_from(document: Mapping[str, Any]) -> Baseline:
    """Turn a document back into the baseline it came from."""
    return read_document(_adapter(), BASELINE.current(document), "baseline")


def saved_baselines(
    documents: Iterable[tuple[tuple[str, str, str], Any]], spoiled: Spoiled = ignored
) -> list[SavedBaseline]:
    """Read what a list shows out of documents, which may lack their blocks; sorted by topology, engine and name.

    Each comes with these three, by which `spoiled` hears of one that can't be read.
    """
    found = []
    for place, document in documents:
        try:
            found.append(read_document(_saved_adapter(), BASELINE.current(document), "baseline"))
        except ProfileError as error:
            spoiled(Unreadable.because(error, place))
    return sorted(found, key=lambda each: (each.topology, each.engine, each.name))


@cache
def _adapter() -> TypeAdapter[Baseline]:
    return TypeAdapter(Baseline)


@cache
def _saved_adapter() -> TypeAdapter[SavedBaseline]:
    return TypeAdapter(SavedBaseline)
