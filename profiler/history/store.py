"""What every store can do: keep runs, windows, rounds, blocks, results and baselines, and find them again.

Everything is keyed by the run's id, so profiles that run at once share a store without noticing each other. Every
write may be repeated: after an error nobody knows whether it arrived, so it must be safe to send it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, Protocol

from profiler.errors import ProfileError, UsageError, did_you_mean
from profiler.experiment.rounds import Round
from profiler.history.baselines import Baseline, SavedBaseline
from profiler.history.records import (
    MeasuredBlock,
    Record,
    Result,
    Run,
    RunKind,
    RunState,
    SeenWindow,
    StoredRun,
)
from profiler.history.unreadable import Spoiled, Unreadable, ignored, shortened

SCHEMA_VERSION = 1


class StoreFailed(ProfileError):  # noqa: N818 - reads as what happened
    """The store did not do what it was asked; it may be gone for a moment, and the same call may be made again."""


class NoSuchRun(UsageError):  # noqa: N818 - reads as what happened
    """No run has that name."""

    def __init__(self, run: str, known: Sequence[str]) -> None:
        """Suggest the nearest of the `known` runs."""
        suggestion = did_you_mean(run, known, otherwise="")
        super().__init__(
            f"The history holds no run '{shortened(run)}'.",
            hint=f"{suggestion} 'profile history list' shows the runs.".strip(),
        )


class UnreadableRun(ProfileError):  # noqa: N818 - reads as what is there
    """A run is there, and can't be read."""

    def __init__(self, found: Unreadable) -> None:
        """Tell why, and how to be rid of it."""
        super().__init__(str(found), hint=found.way_out)
        self.found = found


class NoSuchBaseline(UsageError):  # noqa: N818 - reads as what happened
    """No baseline has that name."""

    def __init__(self, topology: str, engine: str, name: str, known: Sequence[str]) -> None:
        """Name the `known` baselines of the topology on that engine."""
        others = f"Known: {', '.join(known)}. " if known else ""
        super().__init__(
            f"There is no baseline '{name}' of {topology} on {engine}.",
            hint=f"{others}Save one: profile gate TOPOLOGY --save-baseline {name}.",
        )


class Store(Protocol):
    """A place where histories last."""

    def begin_run(self, run: Run) -> None:
        """Make a run known; a run that is known already stays as it is."""

    def add_windows(self, run: str, windows: Sequence[SeenWindow]) -> None:
        """Add windows to a run; those that it has already (by their `at`) are passed over."""

    def save_round(self, run: str, measured: Round) -> None:
        """Save a round under its number; one without a decision never replaces one that has it."""

    def save_block(self, run: str, block: MeasuredBlock) -> None:
        """Save a block of a gate under its number; one that is measured again takes its place."""

    def save_result(self, run: str, document: Mapping[str, Any]) -> None:
        """Save the result and the rounds that it holds; a later result replaces it."""

    def find_runs(
        self,
        *,
        topology: str | None = None,
        engine: str | None = None,
        kind: RunKind | None = RunKind.PROFILE,
        state: RunState | None = None,
        since: datetime | None = None,
        limit: int | None = None,
        spoiled: Spoiled = ignored,
    ) -> list[StoredRun]:
        """Find runs, the newest first; profiles only unless another `kind` is asked for, None for all.

        One that can't be read is left out, and `spoiled` hears of it.
        """

    def load_run(self, run: str) -> StoredRun:
        """Return one run; NoSuchRun where there is none of that name, UnreadableRun where it can't be read."""

    def rounds(self, run: str) -> tuple[Round, ...]:
        """Return the rounds of a run by number."""

    def blocks(self, run: str) -> tuple[MeasuredBlock, ...]:
        """Return the blocks of a gate by number."""

    def windows(self, run: str) -> tuple[SeenWindow, ...]:
        """Return the windows of a run in the order in which they were seen."""

    def result(self, run: str) -> dict[str, Any] | None:
        """Return the whole result document, None where there is none."""

    def delete_run(self, run: str) -> None:
        """Delete all of a run; deleting what is not there is fine."""

    def save_baseline(self, baseline: Baseline) -> None:
        """Save a baseline; it replaces the one of that topology, engine and name."""

    def load_baseline(self, topology: str, engine: str, name: str) -> Baseline:
        """Return a baseline; NoSuchBaseline where there is none of that name."""

    def baseline_names(self, topology: str, engine: str) -> list[str]:
        """List the names of a topology's baselines on an engine."""

    def baselines(self, spoiled: Spoiled = ignored) -> list[SavedBaseline]:
        """List all baselines, without their blocks; `spoiled` hears of those that can't be read."""

    def delete_baseline(self, topology: str, engine: str, name: str) -> None:
        """Delete a baseline; deleting what is not there is fine."""

    def close(self) -> None:
        """Let go of the store; calling it twice is fine."""


def write_records(store: Store, run: str, records: Iterable[Record]) -> None:
    """Write records in their order; windows that follow each other go together."""
    for kind, group in groupby(records, key=type):
        if kind is SeenWindow:
            store.add_windows(run, [record for record in group if isinstance(record, SeenWindow)])
            continue
        for record in group:
            if isinstance(record, Round):
                store.save_round(run, record)
            elif isinstance(record, MeasuredBlock):
                store.save_block(run, record)
            elif isinstance(record, Result):
                store.save_result(run, record.document)
