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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from profiler.errors import ProfileError, UsageError
from profiler.experiment.observation import Measurement
from profiler.experiment.rounds import Action, Round, Step
from profiler.history.documents import round_document, round_from
from profiler.history.fingerprint.fingerprint import Difference, Fingerprint, Part, differences, fingerprint_from
from profiler.history.migrations import RESULT
from profiler.job.configuration import Configuration
from profiler.questions.recalibrate.moved_features import Movement, moved_features
from profiler.questions.recalibrate.stored_answer import Look, Standing, StoredRounds, look_at
from profiler.questions.recalibrate.warm_start import Scope
from profiler.questions.search.loop import SearchResult

_LEAST_FIRST = (Scope.CONFIRM, Scope.PLATFORM, Scope.FEATURES, Scope.ALL)


class RecalibrationVerdict(StrEnum):
    """What became of the stored profile."""

    CONFIRMED = "confirmed"
    CHANGED = "changed"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class StoredProfile:
    """A profile that was kept, as far as a recalibration needs it."""

    run: str
    topology: str
    engine: str
    fingerprint: Fingerprint | None
    """None where it was stored before there were any."""
    rounds: StoredRounds
    full_rounds: int
    """That the profile took which first found it."""

    @property
    def most_slots(self) -> int:
        """The most slots that one of its rounds used."""
        return max(outcome.configuration.slots for outcome in self.rounds.rounds)

    @property
    def configuration(self) -> Configuration:
        """Its answer."""
        return self.rounds.answer.configuration

    def at_speed(self, loop_s: float | None) -> StoredProfile:
        """Return it with its speed indices relative to another run's loop."""
        measured_loop_s = None if self.fingerprint is None else self.fingerprint.loop_s
        if not loop_s or not measured_loop_s:
            return self
        factor = loop_s / measured_loop_s
        rounds = self.rounds
        return replace(
            self,
            rounds=StoredRounds(
                _at_speed(rounds.answer, factor),
                None if rounds.start is None else _at_speed(rounds.start, factor),
                tuple(_at_speed(outcome, factor) for outcome in rounds.rounds),
            ),
        )


@dataclass(frozen=True, slots=True)
class Decided:
    """What to repeat, from which profile on, and why."""

    warm: StoredProfile
    scope: Scope
    differences: tuple[Difference, ...]
    """Of the profile that the warm start comes from."""
    why: str
    only_fewer_slots: bool = False
    """Nothing but slots went: what was the best of more is the best of fewer, if it fits and is as good."""


def stored_profile(document: Mapping[str, Any]) -> StoredProfile:
    """Read a result document; UsageError where it can't be recalibrated."""
    document = RESULT.current(document)
    run = str(document.get("run"))
    rounds = tuple(_measured_rounds(document, run))
    best, kept = document["best"], document.get("recalibration") or {}
    answer = next((outcome for outcome in rounds if outcome.number == best.get("round")), None)
    if answer is None:
        raise UsageError(f"Profile '{run}' does not say which round gave its answer.", hint="Start anew: profile run.")
    start = next((outcome for outcome in rounds if outcome.trial.action is Action.START), None)
    if start is None and kept.get("start") is not None:
        start = round_from(kept["start"])
    return StoredProfile(
        run=run,
        topology=str(document["topology"]),
        engine=str(document["engine"]),
        fingerprint=fingerprint_from(document.get("fingerprint")),
        rounds=StoredRounds(answer, start, rounds),
        full_rounds=int(kept.get("full_rounds", len(rounds))),
    )


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
    start, before = _start(profile.rounds), stored.rounds.start
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


def recalibration_record(decided: Decided, profile: SearchResult) -> dict[str, Any]:
    """Return what a later recalibration needs of this one: whose it is, and the features where they were kept."""
    kept = decided.warm.rounds.start if _start(profile.rounds) is None else None
    return {
        "of": decided.warm.run,
        "scope": str(decided.scope),
        "full_rounds": decided.warm.full_rounds if decided.scope is not Scope.ALL else len(profile.rounds),
        "start": None if kept is None else round_document(kept),
    }


def _measured_rounds(document: Mapping[str, Any], run: str) -> list[Round]:
    rounds: Sequence[Mapping[str, Any]] = document.get("rounds", ())
    if not rounds or any("record" not in entry for entry in rounds):
        raise UsageError(
            f"Profile '{run}' has no rounds that could be read.", hint="Name a run of the history or a --json file."
        )
    return [round_from(entry["record"]) for entry in rounds]


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


def _start(rounds: Sequence[Round]) -> Round | None:
    return next((outcome for outcome in rounds if outcome.trial.action is Action.START), None)


def _at_speed(outcome: Round, factor: float) -> Round:
    def scaled(measurement: Measurement) -> Measurement:
        return replace(
            measurement,
            windows=tuple(replace(each, speed_index=factor * each.speed_index) for each in measurement.windows),
            calm=tuple(replace(each, speed_index=factor * each.speed_index) for each in measurement.calm),
        )

    return replace(outcome, measurement=scaled(outcome.measurement))
