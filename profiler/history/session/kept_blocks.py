"""Keep a gate in the history block by block, and go on with one that was interrupted."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from profiler.history.records import MeasuredBlock, Run, RunState, StoredRun, run_document
from profiler.history.session.keeping import Keeping, is_measured_now, kept
from profiler.history.session.opening import OpenStore
from profiler.history.session.resuming_blocks import interrupted_gates, resumed_gate
from profiler.history.store import Store
from profiler.report.progress import Progress


def kept_gate(
    run: Run, open_store: OpenStore | None, watcher: Progress, *, resumes: bool, anew: bool
) -> AbstractContextManager[Keeping[MeasuredBlock]]:
    """Keep a gate, where there is a history; `resumes` where the run is the name of one to go on with.

    One of the same that broke off a while ago is gone on with by itself, unless all is to be measured `anew`. A drill
    is not: it is calibrated each time, and blocks of two burdens would not be of one candidate.
    """
    can_resume = run.parameters["drill"] is None
    if resumes:
        return kept(run, open_store, watcher, resume=resumed_blocks, can_resume=can_resume)
    past = interrupted(run, open_store) if open_store is not None and can_resume and not anew else None
    if past is None:
        return kept(run, open_store, watcher, resume=None, can_resume=can_resume)
    watcher.say(
        f"going on with gate {past.run.id}, which was interrupted after {past.blocks} blocks; --anew starts over"
    )
    return kept(replace(run, id=past.run.id), open_store, watcher, resume=resumed_blocks, can_resume=can_resume)


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
    """Find the newest gate or comparison of the same question that broke off a while ago, and that nobody measures.

    One that was started over since, and has a verdict, is done with: who asks again wants another one.
    """
    with closing(open_store()) as store:
        found = interrupted_gates(store, run, now=datetime.now(UTC))
        idle = [each for each in found if not is_measured_now(each)]
        return next((each for each in idle if not _has_verdict_since(store, run, each.run.started)), None)


def _has_verdict_since(store: Store, run: Run, since: datetime) -> bool:
    later = store.find_runs(topology=run.topology, engine=run.engine, kind=run.kind, since=since)
    # One whose time was up has a verdict too.
    return any(each.state is not RunState.UNFINISHED and _question(each.run) == _question(run) for each in later)


def _question(run: Run) -> list[Any]:
    document = run_document(run)
    return [document["parameters"], document["environment"]]
