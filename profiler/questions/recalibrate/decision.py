"""Recalibration: whether a stored profile is still right, and if not, which steps have to be repeated.

Pure decisions. What differs between a stored fingerprint and the present one gives the scope:

| what changed | repeated |
|---|---|
| nothing | none: the stored answer is measured again, once or twice |
| the platform's size, or the question (constraint, bounds) | steps 2 and 3; the features are kept |
| the data, or how fast the platform is (machine, versions) | step 1, and steps 2 and 3 where the features moved |
| the application; or two of the above, so that step 1 alone cannot tell | all |

(That a new machine or version is treated like new data is a choice: rows may cost another amount, the job is the same.)
The warm start comes from the stored profile that asks for the least; of equals, from the newest. The verdict is about
the one that was asked for all the same: its tasks are the answer still, or others are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from profiler.errors import ProfileError
from profiler.experiment.rounds import Action, Step
from profiler.history.fingerprint.fingerprint import Difference, Fingerprint, Part, differences
from profiler.questions.recalibrate.moved_features import Movement, moved_features
from profiler.questions.recalibrate.stored_answer import Look, Standing, look_at
from profiler.questions.recalibrate.warm_start import Scope
from profiler.questions.search.answer import ProfileOrigin
from profiler.questions.search.operators import start_of
from profiler.questions.search.result import SearchResult
from profiler.questions.search.stored_profile import StoredProfile

_LEAST_FIRST = (Scope.CONFIRM, Scope.PLATFORM, Scope.FEATURES, Scope.ALL)


class RecalibrationVerdict(StrEnum):
    """The verdict on the stored profile."""

    CONFIRMED = "confirmed"
    CHANGED = "changed"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Decided:
    """What to repeat, from which profile on, and why."""

    warm: StoredProfile
    scope: Scope
    differences: tuple[Difference, ...]
    """The differences from the profile that the warm start comes from."""
    why: str
    only_fewer_slots: bool = False
    """Whether nothing but slots went: what was the best of more is the best of fewer, if it fits and is as good."""


def decide(stored: StoredProfile, now: Fingerprint) -> Decided:
    """Tell what to repeat of a profile, given how things are now."""
    before = stored.fingerprint
    if before is None:
        return Decided(stored, Scope.ALL, (), "it was stored without a fingerprint, so nobody knows what changed")
    found = differences(before, now, most_slots=stored.most_slots)
    parts = {each.part for each in found}
    scope = _scope(parts)
    if scope in (Scope.PLATFORM, Scope.FEATURES) and stored.rounds.start is None:
        return Decided(stored, Scope.ALL, found, "the features of step 1 were not stored")
    slots_before, slots_now = (int(each.platform.get("slots", 0)) for each in (before, now))
    fewer = len(found) == 1 and parts == {Part.PLATFORM} and slots_now < slots_before
    return Decided(stored, scope, found, _why(scope, parts), only_fewer_slots=fewer)


def nearest(profiles: Iterable[StoredProfile], now: Fingerprint) -> Decided:
    """Choose the profile that asks for the least, the first of equals; it must be told of at least one."""
    decided = [decide(profile, now) for profile in profiles]
    if not decided:
        raise ProfileError("There is no stored profile to start from.")
    return min(decided, key=lambda each: (_LEAST_FIRST.index(each.scope), len(each.differences)))


def stored_look(stored: StoredProfile, profile: SearchResult) -> Look | None:
    """Return what a recalibration says of the stored answer by its last round of it; None where there is none."""
    again = [outcome for outcome in profile.rounds if outcome.trial.step is Step.STORED]
    start = profile.rounds[0]
    if not again and start.trial.action is Action.START and start.configuration == stored.configuration:
        again = [start]
    return look_at(stored.rounds, again[-1], profile.rounds, profile.context.parameters) if again else None


def movements(stored: StoredProfile, profile: SearchResult) -> tuple[Movement, ...] | None:
    """Return the features that moved; None where step 1 was not repeated."""
    start, before = start_of(profile.rounds), stored.rounds.start
    if start is None or before is None or set(before.configuration) != set(profile.topology.names):
        return None
    return moved_features(profile.topology, before.measurement, start.measurement, profile.context.parameters)


def verdict(stored: StoredProfile, profile: SearchResult, warm: StoredProfile | None = None) -> RecalibrationVerdict:
    """Tell whether the configuration of a stored profile is still the answer.

    `warm` is the profile that the rounds started from, and measured again, where that is another one.
    """
    look = stored_look(warm or stored, profile)
    unclear = look is not None and look.standing is Standing.UNCLEAR
    if unclear or not profile.complete:
        return RecalibrationVerdict.INCONCLUSIVE
    return (
        RecalibrationVerdict.CONFIRMED
        if profile.answer.configuration == stored.configuration
        else RecalibrationVerdict.CHANGED
    )


def origin_of(decided: Decided, result: SearchResult) -> ProfileOrigin:
    """Return what a later recalibration needs of this one: whose it is, and the features where they were kept."""
    return ProfileOrigin(
        of=decided.warm.run,
        scope=str(decided.scope),
        full_rounds=decided.warm.full_rounds if decided.scope is not Scope.ALL else len(result.rounds),
        start=decided.warm.rounds.start if start_of(result.rounds) is None else None,
    )


def _scope(parts: set[Part]) -> Scope:
    costs, size = parts & {Part.DATA, Part.MACHINE}, parts & {Part.PLATFORM, Part.QUESTION}
    if Part.APPLICATION in parts or (costs and size):
        return Scope.ALL
    if costs:
        return Scope.FEATURES
    return Scope.PLATFORM if size else Scope.CONFIRM


def _why(scope: Scope, parts: set[Part]) -> str:
    changed = " and ".join(f"the {part}" for part in Part if part in parts)
    return {
        Scope.CONFIRM: "nothing changed: the stored answer is measured again",
        Scope.PLATFORM: f"{changed} changed: steps 2 and 3, the features are kept",
        Scope.FEATURES: f"{changed} changed: step 1, and steps 2 and 3 where the features moved",
        Scope.ALL: f"{changed} changed: all steps",
    }[scope]
