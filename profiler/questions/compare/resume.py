"""Keep a comparison in the history block by block, and go on with one that was interrupted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from profiler.experiment.engine import Engine
from profiler.history.fingerprint.digests import conf_digest, data_digests
from profiler.history.fingerprint.fingerprint import fingerprint_of
from profiler.history.records import MeasuredBlock, Run, RunKind
from profiler.history.session.interrupted import interrupted
from profiler.history.session.keeping import Keeping, kept, new_run_id
from profiler.history.session.opening import HistorySession
from profiler.history.session.resuming import resumed_blocks
from profiler.questions.compare.conclusion import CompareCase
from profiler.questions.compare.experiment import Variant
from profiler.questions.compare.progress import CompareProgress
from profiler.questions.going_on import WITH_THE_SAME
from profiler.settings.declarations import Settings

if TYPE_CHECKING:
    from profiler.experiment.window_plan import WindowPlan


def comparison_run(
    variants: Sequence[Variant], case: CompareCase, design: WindowPlan, engine: Engine, settings: Settings
) -> Run:
    """Return the record of a comparison that is about to be measured, with all that was asked."""
    started = datetime.now(UTC)
    return Run(
        id=new_run_id(started),
        topology=" vs ".join(variant.name for variant in variants),
        engine=case.engine,
        policy="",
        parameters={
            "tasks": {each.name: str(each.configuration) for each in variants},
            "code": {each.name: _code(each, engine) for each in variants},
            "data": {each.name: data_digests(each.topology) for each in variants},
            "conf": conf_digest(settings),
            "slots": case.slots,
            "terms": asdict(case.terms),
            "blocks": design.blocks,
            "windows": f"{design.block_warm_up}, {design.block}, {design.block_probe}",
        },
        environment=dict(case.environment),
        started=started,
        kind=RunKind.COMPARE,
    )


def kept_comparison(
    run: Run, history: HistorySession | None, stages: CompareProgress, *, anew: bool
) -> AbstractContextManager[Keeping[MeasuredBlock]]:
    """Keep a comparison, where there is a history; go on with one of the same that broke off a while ago."""
    past = None if anew else interrupted(run, history, resumed_blocks)
    if past is None:
        return kept(run, history, stages, resume=None, way_on=None)
    stages.note(f"going on with comparison {past.run.id}")
    return kept(past.run, history, stages, resume=resumed_blocks, way_on=None)


@contextmanager
def told_how_to_go_on(stages: CompareProgress, history: HistorySession | None) -> Iterator[None]:
    """Say, where a comparison breaks off, that nothing is lost."""
    try:
        yield
    except BaseException:
        if stages.measured and history is not None:
            stages.say(WITH_THE_SAME)
        raise


def _code(variant: Variant, engine: Engine) -> str:
    """Tell versions of a variant apart by one word; slots follow the free memory and are left out."""
    return fingerprint_of(variant.topology, variant.name, engine.name, engine.platform, slots=0).digest
