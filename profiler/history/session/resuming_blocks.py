"""Go on with an interrupted gate: which blocks it has, and whether they may stand beside those still to be measured.

Blocks of two sessions are compared with each other, so more must be equal than for a profile: the code of both
versions, their data, the limits, and all that is known of the place. And the interruption must be recent: machines
drift, and what drifted between two sessions is no trend that the mirrored order could take out.

That single blocks are gone on with, and not whole turns only, is a **choice**: it keeps the level and costs some passes
(scripts/benches/results/gate.md). Blocks that are measured two at a time are gone on with by the turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from profiler.errors import UsageError
from profiler.history.records import MeasuredBlock, Run, RunState, StoredRun, run_document
from profiler.history.session.resuming import brought_in, has_ended, require_all, require_same
from profiler.history.store import Store

RECENT = timedelta(hours=1)
"""Time since the last block of a gate within which it may be gone on with."""


def resumed_gate(store: Store, wanted: Run, unsaved: Path, *, now: datetime) -> tuple[Run, tuple[MeasuredBlock, ...]]:
    """Return the stored gate of that id and its blocks; `wanted` is the gate as the user now asks for it.

    A gate with a verdict is not gone on with, also where its time was up: to look at the blocks once more after a look
    that used up the significance level would raise false alarms.
    """
    stored = brought_in(store, wanted, unsaved)
    if stored.state is not RunState.UNFINISHED:
        raise has_ended(wanted)
    require_same(_question(stored.run), _question(wanted), wanted)
    blocks = store.blocks(wanted.id)
    require_all([block.number for block in blocks], "Block", wanted)
    last = last_moment(stored.run, blocks)
    if now - last > RECENT:
        raise UsageError(
            f"Gate '{wanted.id}' was interrupted at {last.astimezone():%Y-%m-%d %H:%M}, which is more than "
            f"{RECENT.total_seconds() / 60:g} minutes ago: the machine may have changed since.",
            hint="Leave --resume out for a new gate.",
        )
    return stored.run, blocks


def interrupted_gates(store: Store, wanted: Run, *, now: datetime) -> list[StoredRun]:
    """Find the gates without a verdict that asked the same and could be gone on with, the newest first."""
    recent = store.find_runs(
        topology=wanted.topology,
        engine=wanted.engine,
        kind=wanted.kind,
        state=RunState.UNFINISHED,
        since=now - 2 * RECENT,
    )
    return [
        found
        for found in recent
        if found.blocks
        and _question(found.run) == _question(wanted)
        and now - last_moment(found.run, store.blocks(found.run.id)) <= RECENT
    ]


def last_moment(run: Run, blocks: Sequence[MeasuredBlock]) -> datetime:
    """Return when the last block of a gate ended, or when it started."""
    return max((block.at for block in blocks), default=run.started)


def _question(run: Run) -> dict[str, Any]:
    document = run_document(run)
    asked = {key: document[key] for key in ("topology", "engine")}
    return {**asked, **document["parameters"], **document["environment"]}
