"""What a recalibration ends with, put together: what was decided before it, what was found, what follows from that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from profiler.questions.recalibrate.answer import (
    AgainAnswer,
    MovementAnswer,
    RecalibrateAnswer,
    RepeatedStep,
    StoredAnswer,
    WarmStartAnswer,
)
from profiler.questions.recalibrate.decision import (
    Decided,
    RecalibrationVerdict,
    movements,
    stored_look,
    verdict,
)
from profiler.questions.recalibrate.moved_features import Movement
from profiler.questions.recalibrate.stored_answer import Look, Standing
from profiler.questions.recalibrate.warm_start import Scope
from profiler.questions.search.answer import Profile
from profiler.questions.search.result import SearchResult
from profiler.questions.search.stored_profile import StoredProfile
from profiler.report.words import change, counted

EXIT_CODES = {RecalibrationVerdict.CONFIRMED: 0, RecalibrationVerdict.CHANGED: 0, RecalibrationVerdict.INCONCLUSIVE: 4}
STEPS: Mapping[Scope, tuple[RepeatedStep, ...]] = {
    Scope.CONFIRM: (),
    Scope.PLATFORM: (2, 3),
    Scope.FEATURES: (1,),
    Scope.ALL: (1, 2, 3),
}
"""The steps that every scope repeats in any case."""


@dataclass(frozen=True, slots=True)
class RecalibrateCase:
    """What is recalibrated, and what was decided before anything was measured."""

    asked: Decided
    """The decision on the profile that the user asked about."""
    decided: Decided
    """The decision on the profile that the warm start comes from; often the same."""


def recalibrate_answer(
    case: RecalibrateCase, found: SearchResult | None = None, result: Profile | None = None
) -> RecalibrateAnswer:
    """Return what a recalibration ended with; a dry run found nothing."""
    asked, warm, decided = case.asked.warm, case.decided.warm, case.decided
    judged = None if found is None else verdict(asked, found, warm)
    look = None if found is None else stored_look(warm, found)
    moved = None if found is None else movements(warm, found)
    return RecalibrateAnswer(
        topology=warm.topology,
        engine=warm.engine,
        profile=_stored(asked),
        differences=case.asked.differences,
        warm_start=_warm_start(decided),
        scope=decided.scope,
        steps=STEPS[decided.scope],
        why=decided.why,
        dry_run=found is None,
        verdict=judged,
        exit_code=0 if judged is None else EXIT_CODES[judged],
        conclusion=None if found is None or judged is None else _conclusion(judged, case, found, look),
        again=None if look is None else _again(look),
        moved=None if moved is None else tuple(map(_movement, moved)),
        rounds=0 if found is None else len(found.rounds),
        full_rounds=warm.full_rounds,
        result=result,
        warnings=tuple(_warnings(case)),
    )


def _stored(stored: StoredProfile) -> StoredAnswer:
    return StoredAnswer(
        run=stored.run,
        tasks=dict(stored.configuration.tasks),
        offered_per_s=stored.configuration.offered_per_s,
        throughput_per_s=stored.rounds.answer.throughput_per_s,
    )


def _warm_start(decided: Decided) -> WarmStartAnswer:
    of = _stored(decided.warm)
    return WarmStartAnswer(
        run=of.run,
        tasks=of.tasks,
        offered_per_s=of.offered_per_s,
        throughput_per_s=of.throughput_per_s,
        differences=decided.differences,
    )


def _again(look: Look) -> AgainAnswer:
    seen = look.comparison
    return AgainAnswer(
        standing=look.standing,
        test=seen.test,
        verdict=seen.verdict,
        effect=seen.effect,
        low=seen.low,
        high=seen.high,
        p=seen.p,
        detectable_effect=seen.detectable_effect,
        n_reference=seen.n_reference,
        n_candidate=seen.n_candidate,
        correlation=seen.correlation,
        mann_whitney_p=seen.mann_whitney_p,
        warnings=tuple(map(str, seen.warnings)),
    )


def _movement(moved: Movement) -> MovementAnswer:
    return MovementAnswer(
        operator=moved.name,
        quantity=moved.quantity,
        before_us=1e6 * moved.before_s,
        now_us=1e6 * moved.now_s,
        effect=moved.effect,
        p=moved.p,
    )


def _conclusion(found: RecalibrationVerdict, case: RecalibrateCase, profile: SearchResult, look: Look | None) -> str:
    """Say what became of the profile that was asked about, and of the answer that the rounds started from."""
    asked, warm = case.asked.warm, case.decided.warm
    if look is None or asked.run == warm.run:
        return _of_asked(found, asked, profile, look)
    again = f"that of profile {warm.run}, {warm.configuration}, is {look.standing}"
    return f"{_of_asked(found, asked, profile, None)}; {again}"


def _of_asked(found: RecalibrationVerdict, asked: StoredProfile, profile: SearchResult, look: Look | None) -> str:
    tasks, rounds = asked.configuration, counted(len(profile.rounds), "round")
    if found is RecalibrationVerdict.INCONCLUSIVE:
        why = "the time budget ended the search" if not profile.complete else "the rounds are too noisy to tell"
        return f"{why} after {rounds}; the stored answer {tasks} stands until more is known"
    if found is RecalibrationVerdict.CHANGED:
        answer = profile.answer
        against = change(answer.throughput_per_s / asked.rounds.answer.throughput_per_s - 1)
        return f"{answer.configuration} instead of {tasks}, {against} against what was stored, in {rounds}"
    if look is not None and look.standing is Standing.AS_GOOD:
        seen = f"a change of {change(look.comparison.detectable_effect).lstrip('+')} would have been seen"
        return f"{tasks} is as good as stored ({change(look.comparison.effect)}; {seen}), in {rounds}"
    return f"{tasks} is still the best that was found, in {rounds}"


def _warnings(case: RecalibrateCase) -> Iterator[str]:
    if case.asked.warm.fingerprint is None:
        yield f"profile {case.asked.warm.run} has no fingerprint: all steps are repeated, to be sure"
