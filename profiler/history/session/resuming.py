"""Go on with an interrupted run: which rounds or blocks it has, and whether they may be gone on with.

Rounds of two sessions serve one search; blocks of two sessions are compared with each other. So for blocks more must be
as it was: the code of both versions, their data, the limits, and all that is known of the place. And the interruption
must be recent: machines drift, and what drifted between two sessions is no trend that the mirrored order could take
out.

That single blocks are gone on with, and not whole turns only, is a **choice**: it keeps the level and costs some passes
(scripts/benches/results/gate.md). Blocks that are measured two at a time are gone on with by the turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from profiler.errors import ProfileError, UsageError
from profiler.experiment.rounds import Round
from profiler.history.files.exchange import import_file
from profiler.history.records import MeasuredBlock, Run, RunKind, RunState, StoredRun
from profiler.history.session.question import require_same
from profiler.history.store import Store

RECENT = timedelta(hours=1)
"""Time since the last block of a gate within which it may be gone on with."""


def resumed(store: Store, wanted: Run, unsaved: Path) -> tuple[Run, tuple[Round, ...]]:
    """Return the stored run of that id and its rounds; `wanted` is the run as the user now asks for it.

    What the run had to leave in its `unsaved` file is brought into the store first. Raises UsageError where there is
    no such run, it has ended, or it was asked for differently: its rounds would be an answer to another question.
    """
    stored = _brought_in(store, wanted, unsaved)
    if stored.state is RunState.FINISHED:
        raise _has_ended(wanted)
    require_same(stored.run, wanted)
    rounds = store.rounds(wanted.id)
    _require_all([measured.number for measured in rounds], "Round", wanted)
    return stored.run, rounds


def resumed_blocks(
    store: Store, wanted: Run, unsaved: Path, *, now: datetime | None = None
) -> tuple[Run, tuple[MeasuredBlock, ...]]:
    """Return the stored gate or comparison of that id and its blocks; `wanted` is the run as it is asked for now.

    One with a verdict is not gone on with, also where its time was up: to look at the blocks once more after a look
    that used up the significance level would raise false alarms.
    """
    stored = _brought_in(store, wanted, unsaved)
    if stored.state is not RunState.UNFINISHED:
        raise _has_ended(wanted)
    require_same(stored.run, wanted)
    blocks = store.blocks(wanted.id)
    _require_all([block.number for block in blocks], "Block", wanted)
    last = max((block.at for block in blocks), default=stored.run.started)
    if (now or datetime.now(UTC)) - last > RECENT:
        raise UsageError(
            f"Gate '{wanted.id}' was interrupted at {last.astimezone():%Y-%m-%d %H:%M}, which is more than "
            f"{RECENT.total_seconds() / 60:g} minutes ago: the machine may have changed since.",
            hint="Leave --resume out for a new gate.",
        )
    return stored.run, blocks


def in_another_session(blocks: Sequence[MeasuredBlock]) -> tuple[str, ...]:
    """Say which blocks were measured before the run was interrupted."""
    if not blocks:
        return ()
    when = blocks[-1].at.astimezone()
    return (f"blocks 1 to {len(blocks)} are of a session that was interrupted after {when:%H:%M}",)


def _brought_in(store: Store, wanted: Run, unsaved: Path) -> StoredRun:
    """Find the run of that id and kind, after what it had to leave in its `unsaved` file is in the store."""
    stored = store.load_run(wanted.id)
    if stored.run.kind is not wanted.kind:
        command = "run" if stored.run.kind is RunKind.PROFILE else str(stored.run.kind)
        raise UsageError(
            f"Run '{wanted.id}' is of another kind: {stored.run.kind}, not {wanted.kind}.",
            hint=f"'profile {command}' goes on with it.",
        )
    if not unsaved.exists():
        return stored
    import_file(store, unsaved)
    unsaved.unlink()
    return store.load_run(wanted.id)


def _has_ended(run: Run) -> UsageError:
    """Return the error for a run that has nothing left to do."""
    return UsageError(
        f"Run '{run.id}' has ended, there is nothing to resume.",
        hint=f"'profile history show {run.id}' shows it; leave --resume out for a new run.",
    )


def _require_all(numbers: Sequence[int], noun: str, run: Run) -> None:
    """Refuse to go on where one of the rounds or blocks, counted from 1, is missing."""
    missing = sorted(set(range(1, len(numbers) + 1)) - set(numbers))
    if missing:
        raise ProfileError(
            f"{noun} {missing[0]} of run '{run.id}' is not in the history.",
            hint="Import the file that the run saved when the database was gone, or start a new run.",
        )
