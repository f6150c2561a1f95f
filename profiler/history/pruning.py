"""Decide which runs a history can do without, and delete them.

A baseline, and the gate it came from, are what later gates are judged by: they stay unless it is asked for them too. A
run that is being measured stays in any case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from profiler.history.baselines import SavedBaseline
from profiler.history.records import StoredRun
from profiler.history.store import Store


@dataclass(frozen=True, slots=True)
class Unwanted:
    """What to delete; a run must meet all that is given."""

    before: datetime | None = None
    """The moment before which a run must have started."""
    keep_last: int | None = None
    """The number of newest runs of every topology, engine and kind that are spared."""
    with_baselines: bool = False
    """Whether gates that a baseline came from count as others do, and their baselines go with them."""


@dataclass(frozen=True, slots=True)
class Pruning:
    """What would be deleted, and what stays though it met the conditions."""

    runs: tuple[StoredRun, ...]
    baselines: tuple[SavedBaseline, ...]
    protected: tuple[tuple[StoredRun, SavedBaseline], ...] = ()
    """Gates, each with a baseline that came from it."""
    written: tuple[StoredRun, ...] = ()
    """Runs that are being measured."""

    @property
    def is_empty(self) -> bool:
        """Tell whether there is nothing to delete."""
        return not self.runs and not self.baselines


def pruning(
    found: Sequence[StoredRun],
    baselines: Sequence[SavedBaseline],
    unwanted: Unwanted,
    is_measured_now: Callable[[StoredRun], bool],
) -> Pruning:
    """Choose among the runs that were found, the newest first."""
    of_run = {baseline.run: baseline for baseline in baselines if baseline.run is not None}
    met = _met(found, unwanted)
    written = tuple(each for each in met if is_measured_now(each))
    idle = [each for each in met if each not in written]
    protected = [] if unwanted.with_baselines else [each for each in idle if each.run.id in of_run]
    runs = tuple(each for each in idle if each not in protected)
    return Pruning(
        runs,
        _baselines(found, runs, baselines, unwanted),
        tuple((each, of_run[each.run.id]) for each in protected),
        written,
    )


def carry_out(store: Store, chosen: Pruning) -> None:
    """Delete what was chosen; baselines first, as it is by their gates that they are found where this breaks off."""
    for baseline in chosen.baselines:
        store.delete_baseline(baseline.topology, baseline.engine, baseline.name)
    for each in chosen.runs:
        store.delete_run(each.run.id)


def _met(found: Sequence[StoredRun], unwanted: Unwanted) -> list[StoredRun]:
    seen: Counter[tuple[str, str, str]] = Counter()
    met = []
    for each in found:
        run = each.run
        seen[run.topology, run.engine, run.kind] += 1
        is_old = unwanted.before is None or run.started < unwanted.before
        is_last = unwanted.keep_last is not None and seen[run.topology, run.engine, run.kind] <= unwanted.keep_last
        if is_old and not is_last:
            met.append(each)
    return met


def _baselines(
    found: Sequence[StoredRun], runs: Sequence[StoredRun], baselines: Sequence[SavedBaseline], unwanted: Unwanted
) -> tuple[SavedBaseline, ...]:
    """Choose the baselines that go: those of the gates that go, and old ones of which no gate was kept."""
    if not unwanted.with_baselines:
        return ()
    known, going = ({each.run.id for each in some} for some in (found, runs))
    old = unwanted.before
    return tuple(
        each
        for each in baselines
        if each.run in going or (old is not None and each.run not in known and each.saved < old)
    )
