"""The `--json` document of a recalibration: one object, its schema published beside this file and versioned.

All other reports of a recalibration are made from this document, so that they cannot say different things. `result` is
the profile that came of it, in the schema `profile/1`; it is what the history keeps.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any

from profiler.history.fingerprint.fingerprint import Difference
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
from profiler.questions.search.loop import SearchResult
from profiler.questions.search.stored_profile import StoredProfile
from profiler.report.documents import document_of
from profiler.report.words import change

SCHEMA = "profile-recalibrate/1"
EXIT_CODES = {RecalibrationVerdict.CONFIRMED: 0, RecalibrationVerdict.CHANGED: 0, RecalibrationVerdict.INCONCLUSIVE: 4}
STEPS: Mapping[Scope, tuple[int, ...]] = {
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


def recalibrate_document(
    case: RecalibrateCase, profile: SearchResult | None = None, result: Profile | None = None
) -> dict[str, Any]:
    """Write a recalibration as one document; without a profile it was a dry run."""
    warm, decided = case.decided.warm, case.decided
    found = None if profile is None else verdict(case.asked.warm, profile, warm)
    look = None if profile is None else stored_look(warm, profile)
    moved = None if profile is None else movements(warm, profile)
    document = {
        "schema": SCHEMA,
        "topology": warm.topology,
        "engine": warm.engine,
        "profile": _stored(case.asked.warm),
        "differences": _differences(case.asked.differences),
        "warm_start": {**_stored(warm), "differences": _differences(decided.differences)},
        "scope": decided.scope,
        "steps": STEPS[decided.scope],
        "why": decided.why,
        "dry_run": profile is None,
        "verdict": found,
        "exit_code": 0 if found is None else EXIT_CODES[found],
        "conclusion": None if profile is None or found is None else _conclusion(found, case, profile, look),
        "again": None if look is None else {"standing": look.standing, **asdict(look.comparison)},
        "moved": None if moved is None else [_movement(each) for each in moved],
        "rounds": 0 if profile is None else len(profile.rounds),
        "full_rounds": warm.full_rounds,
        "result": result,
        "warnings": _warnings(case),
    }
    made: dict[str, Any] = document_of(document)
    return made


def recalibrate_schema() -> dict[str, Any]:
    """Return the published JSON schema of the document."""
    text = files("profiler.questions.recalibrate").joinpath("recalibrate-1.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _stored(stored: StoredProfile) -> dict[str, Any]:
    return {
        "run": stored.run,
        "tasks": stored.configuration.tasks,
        "offered_per_s": stored.configuration.offered_per_s,
        "throughput_per_s": stored.rounds.answer.throughput_per_s,
    }


def _differences(found: Sequence[Difference]) -> list[dict[str, str]]:
    return [{"part": str(each.part), "what": each.what} for each in found]


def _movement(moved: Movement) -> dict[str, Any]:
    return {
        "operator": moved.name,
        "quantity": moved.quantity,
        "before_us": 1e6 * moved.before_s,
        "now_us": 1e6 * moved.now_s,
        "effect": moved.effect,
        "p": moved.p,
    }


def _conclusion(found: RecalibrationVerdict, case: RecalibrateCase, profile: SearchResult, look: Look | None) -> str:
    """Say what became of the profile that was asked about, and of the answer that the rounds started from."""
    asked, warm = case.asked.warm, case.decided.warm
    if look is None or asked.run == warm.run:
        return _of_asked(found, asked, profile, look)
    again = f"that of profile {warm.run}, {warm.configuration}, is {look.standing}"
    return f"{_of_asked(found, asked, profile, None)}; {again}"


def _of_asked(found: RecalibrationVerdict, asked: StoredProfile, profile: SearchResult, look: Look | None) -> str:
    tasks, count = asked.configuration, len(profile.rounds)
    rounds = f"{count} round{'s' if count > 1 else ''}"
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


def _warnings(case: RecalibrateCase) -> list[str]:
    warnings = []
    if case.asked.warm.fingerprint is None:
        warnings.append(f"profile {case.asked.warm.run} has no fingerprint: all steps are repeated, to be sure")
    return warnings
