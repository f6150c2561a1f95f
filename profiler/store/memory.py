"""A store in memory: the twin of MongoDB for tests and for runs that nobody wants to keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from profiler.documents import round_document, round_from
from profiler.rounds import Round
from profiler.store.baselines import Baseline, baseline_document, baseline_from
from profiler.store.records import (
    Run,
    SeenWindow,
    StoredRun,
    answer_from,
    result_joined,
    result_parts,
    run_document,
    run_from,
)
from profiler.store.store import NoSuchBaseline, NoSuchRun


@dataclass(slots=True)
class _Kept:
    windows: dict[datetime, SeenWindow] = field(default_factory=dict)
    rounds: dict[int, Round] = field(default_factory=dict)
    result: dict[str, Any] | None = None


class MemoryStore:
    """Keep histories as long as the process lives."""

    def __init__(self) -> None:
        self._runs: dict[str, Run] = {}
        self._kept: dict[str, _Kept] = {}
        self._baselines: dict[tuple[str, str, str], dict[str, Any]] = {}

    def begin_run(self, run: Run) -> None:
        """Make a run known."""
        self._runs.setdefault(run.id, run_from(run_document(run)))

    def add_windows(self, run: str, windows: Sequence[SeenWindow]) -> None:
        """Add windows that are not there yet."""
        kept = self._of(run).windows
        for window in windows:
            kept.setdefault(window.at, window)

    def save_round(self, run: str, outcome: Round) -> None:
        """Save a round under its number."""
        rounds = self._of(run).rounds
        known = rounds.get(outcome.number)
        if outcome.decision is not None or known is None or known.decision is None:
            rounds[outcome.number] = outcome

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
        since: datetime | None = None,
        limit: int | None = None,
    ) -> list[StoredRun]:
        """Find runs, the newest first."""
        found = [
            run
            for run in self._runs.values()
            if topology in (None, run.topology)
            and engine in (None, run.engine)
            and (since is None or run.started >= since)
        ]
        newest_first = sorted(found, key=lambda run: (run.started, run.id), reverse=True)
        return [self.load_run(run.id) for run in newest_first[:limit]]

    def load_run(self, run: str) -> StoredRun:
        """Return one run."""
        if run not in self._runs:
            raise NoSuchRun(run, list(self._runs))
        kept = self._of(run)
        answer = None if kept.result is None else answer_from(kept.result)
        return StoredRun(self._runs[run], len(kept.rounds), answer)

    def rounds(self, run: str) -> tuple[Round, ...]:
        """Return the rounds by number."""
        return tuple(outcome for _, outcome in sorted(self._of(run).rounds.items()))

    def windows(self, run: str) -> tuple[SeenWindow, ...]:
        """Return the windows in their order."""
        return tuple(window for _, window in sorted(self._of(run).windows.items()))

    def result(self, run: str) -> dict[str, Any] | None:
        """Return the whole result document."""
        kept = self._of(run)
        if kept.result is None:
            return None
        records = {number: round_document(outcome) for number, outcome in kept.rounds.items()}
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

    def close(self) -> None:
        """Do nothing: what is in memory needs no connection."""

    def _of(self, run: str) -> _Kept:
        return self._kept.setdefault(run, _Kept())
