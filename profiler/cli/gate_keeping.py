"""Keep a gate in the history block by block, and go on with one that was interrupted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from profiler.cli.keeping import Keeping, kept
from profiler.cli.stores import OpenStore
from profiler.report.progress import Progress
from profiler.services.run_folder import cache_directory
from profiler.services.writing import is_being_written
from profiler.store.gate_resuming import interrupted_gates, resumed_gate
from profiler.store.records import MeasuredBlock, Run, StoredRun
from profiler.store.store import Store


@contextmanager
def kept_gate(
    run: Run, open_store: OpenStore | None, watcher: Progress, *, resumes: bool
) -> Iterator[Keeping[MeasuredBlock]]:
    """Keep a gate, where there is a history; `resumes` where the run is the name of one to go on with."""
    can_resume = run.parameters["drill"] is None
    if open_store is not None and can_resume and not resumes:
        _tell_of_interrupted(run, open_store, watcher)
    with kept(run, open_store, watcher, resume=resumed_blocks if resumes else None, can_resume=can_resume) as keeping:
        yield keeping


def in_another_session(blocks: Sequence[MeasuredBlock]) -> tuple[str, ...]:
    """Say which blocks were measured before the gate was interrupted."""
    if not blocks:
        return ()
    when = blocks[-1].at.astimezone()
    return (f"blocks 1 to {len(blocks)} are of a session that was interrupted after {when:%H:%M}",)


def resumed_blocks(store: Store, run: Run, unsaved: Path) -> tuple[Run, tuple[MeasuredBlock, ...]]:
    """Return the stored run of that id, a gate or a comparison, and its blocks, where they may be gone on with now."""
    return resumed_gate(store, run, unsaved, now=datetime.now(UTC))


def interrupted(run: Run, open_store: OpenStore) -> StoredRun | None:
    """Find the newest gate or comparison of the same question that broke off a while ago, and that nobody measures."""
    with closing(open_store()) as store:
        found = interrupted_gates(store, run, now=datetime.now(UTC))
    return next((each for each in found if not is_being_written(cache_directory(), each.run.id)), None)


def _tell_of_interrupted(run: Run, open_store: OpenStore, watcher: Progress) -> None:
    """Name the gate that could be gone on with: who was killed could not."""
    gate = interrupted(run, open_store)
    if gate is not None:
        watcher.say(
            f"a gate of the same was interrupted after {gate.blocks} blocks: --resume {gate.run.id} goes on with it"
        )
