"""A store in memory: the twin of MongoDB for tests and for runs that nobody wants to keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from profiler.errors import ProfileError
from profiler.experiment.rounds import Round
from profiler.history.baselines import Baseline, SavedBaseline, baseline_document, baseline_from, saved_baselines
from profiler.history.documents import round_document, round_from
from profiler.history.records import (
    MeasuredBlock,
    Run,
    RunKind,
    RunState,
    SeenWindow,
    StoredRun,
    result_joined,
    result_parts,
    run_document,
    run_from,
    stored_run,
)
from profiler.history.store import NoSuchBaseline, NoSuchRun, UnreadableRun
from profiler.history.unreadable import Spoiled, Unreadable, ignored


@dataclass(slots=True)
class _Kept:
    windows: dict[datetime, SeenWindow] = field(default_factory=dict)
    rounds: dict[int, Round] = field(default_factory=dict)
    blocks: dict[int, MeasuredBlock] = field(default_factory=dict)
    result: dict[str, Any] | None = None


class MemoryStore:
    """Keep histories as long as the process lives."""

    def __init__(self) -> None:
        self._runs: dict[str, dict[str, Any]] = {}
        self._kept: dict[str, _Kept] = {}
        self._baselines: dict[tuple[str, str, str], dict[str, Any]] = {}

    def begin_run(self, run: Run) -> None:
        """Make a run known."""
        self._runs.setdefault(run.id, run_document(run))

    def add_windows(self, run: str, windows: Sequence[SeenWindow]) -> None:
        """Add windows that are not there yet."""
        kept = self._of(run).windows
        for window in windows:
            kept.setdefault(window.at, window)

    def save_round(self, run: str, measured: Round) -> None:
        """Save a round under its number."""
        rounds = self._of(run).rounds
        known = rounds.get(measured.number)
        if measured.decision is not None or known is None or known.decision is None:
            rounds[measured.number] = measured

    def save_block(self, run: str, block: MeasuredBlock) -> None:
        """Save a block under its number."""
        self._of(run).blocks[block.number] = block

    def save_result(self, run: str, document: Mapping[str, Any]) -> None:
        """Save the result and its rounds."""
        result, records = result_parts(document)
        for record in records:
            self.save_round(run, round_from(record))
        self._of(run).result = result

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
        """Find runs, the newest first."""
        found = [
            stored
            for stored in self._readable(spoiled)
            if topology in (None, stored.run.topology)
            and engine in (None, stored.run.engine)
            and kind in (None, stored.run.kind)
            and state in (None, stored.state)
            and (since is None or stored.run.started >= since)
        ]
        newest_first = sorted(found, key=lambda stored: (stored.run.started, stored.run.id), reverse=True)
        return newest_first[:limit]

    def load_run(self, run: str) -> StoredRun:
        """Return one run."""
        if run not in self._runs:
            raise NoSuchRun(run, list(self._runs))
        kept = self._of(run)
        try:
            begun = run_from(self._runs[run])
            return stored_run(begun, rounds=len(kept.rounds), blocks=len(kept.blocks), result=kept.result)
        except ProfileError as error:
            raise UnreadableRun(Unreadable.because(error, run)) from None

    def rounds(self, run: str) -> tuple[Round, ...]:
        """Return the rounds by number."""
        return tuple(measured for _, measured in sorted(self._of(run).rounds.items()))

    def blocks(self, run: str) -> tuple[MeasuredBlock, ...]:
        """Return the blocks by number."""
        return tuple(block for _, block in sorted(self._of(run).blocks.items()))

    def windows(self, run: str) -> tuple[SeenWindow, ...]:
        """Return the windows in their order."""
        return tuple(window for _, window in sorted(self._of(run).windows.items()))

    def result(self, run: str) -> dict[str, Any] | None:
        """Return the whole result document."""
        kept = self._of(run)
        if kept.result is None:
            return None
        records = {number: round_document(measured) for number, measured in kept.rounds.items()}
        return result_joined(deepcopy(kept.result), records)

    def delete_run(self, run: str) -> None:
        """Delete all of a run."""
        self._runs.pop(run, None)
        self._kept.pop(run, None)

    def save_baseline(self, baseline: Baseline) -> None:
        """Save a baseline under topology, engine and name."""
        self._baselines[baseline.topology, baseline.engine, baseline.name] = baseline_document(baseline)

    def load_baseline(self, topology: str, engine: str, name: str) -> Baseline:
        """Return a baseline."""
        document = self._baselines.get((topology, engine, name))
        if document is None:
            raise NoSuchBaseline(topology, engine, name, self.baseline_names(topology, engine))
        return baseline_from(document)

    def baseline_names(self, topology: str, engine: str) -> list[str]:
        """List the names of a topology's baselines."""
        return sorted(name for of, on, name in self._baselines if (of, on) == (topology, engine))

    def baselines(self, spoiled: Spoiled = ignored) -> list[SavedBaseline]:
        """List all baselines."""
        return saved_baselines(self._baselines.items(), spoiled)

    def delete_baseline(self, topology: str, engine: str, name: str) -> None:
        """Delete a baseline."""
        self._baselines.pop((topology, engine, name), None)

    def close(self) -> None:
        """Do nothing: what is in memory needs no connection."""

    def _readable(self, spoiled: Spoiled) -> Iterator[StoredRun]:
        for run in list(self._runs):
            try:
                yield self.load_run(run)
            except UnreadableRun as error:
                spoiled(error.found)

    def _of(self, run: str) -> _Kept:
        return self._kept.setdefault(run, _Kept())
