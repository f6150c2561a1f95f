"""A profile that was kept, as far as a later question needs it: its answer, its rounds and what they hold for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from profiler.errors import UsageError
from profiler.experiment.observation import Measurement, Observation
from profiler.experiment.rounds import Round
from profiler.history.fingerprint.fingerprint import Fingerprint
from profiler.job.configuration import Configuration
from profiler.questions.search.answer import Profile
from profiler.questions.search.document import read_profile
from profiler.questions.search.operators import start_of
from profiler.settings.choices import EngineName


@dataclass(frozen=True, slots=True)
class StoredRounds:
    """What a stored profile knows; its speed indices are relative to the present run's."""

    answer: Round
    start: Round | None
    """Step 1's round, which the features are read from; None where it was not stored."""
    rounds: tuple[Round, ...]


@dataclass(frozen=True, slots=True)
class StoredProfile:
    """A profile that was kept, as far as a recalibration needs it."""

    run: str
    topology: str
    engine: str
    fingerprint: Fingerprint | None
    """The profile's fingerprint; None where it was stored before there were any."""
    rounds: StoredRounds
    full_rounds: int
    """Rounds that the profile took which first found it."""

    @property
    def most_slots(self) -> int:
        """The most slots that one of its rounds used."""
        return max(measured.configuration.slots for measured in self.rounds.rounds)

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
                tuple(_at_speed(measured, factor) for measured in rounds.rounds),
            ),
        )


def stored_profile(document: Mapping[str, Any]) -> StoredProfile:
    """Read a result document; UsageError where nothing can start from it."""
    if not document.get("rounds"):
        raise _without_rounds(document.get("run"))
    return stored(read_profile(document))


def stored(profile: Profile) -> StoredProfile:
    """Return what a later question needs of a profile; UsageError where it does not have it."""
    rounds, origin = profile.records, profile.recalibration
    if len(rounds) < len(profile.rounds):
        raise _without_rounds(profile.run)
    if profile.answer is None or profile.answer.record is None:
        raise UsageError(
            f"Profile '{profile.run}' does not say which round gave its answer.", hint="Start anew: profile run."
        )
    if profile.engine not in [*EngineName]:
        raise UsageError(
            f"Profile '{profile.run}' was made on '{profile.engine}', which is no engine.",
            hint=f"Its key 'engine' says {' or '.join(EngineName)}.",
        )
    kept_start = None if origin is None else origin.start
    return StoredProfile(
        run=profile.run,
        topology=profile.topology,
        engine=profile.engine,
        fingerprint=profile.fingerprint,
        rounds=StoredRounds(profile.answer.record, start_of(rounds) or kept_start, rounds),
        full_rounds=len(rounds) if origin is None else origin.full_rounds,
    )


def _without_rounds(run: object) -> UsageError:
    return UsageError(
        f"Profile '{run}' has no rounds that could be read.", hint="Name a run of the history or a --json file."
    )


def _at_speed(measured: Round, factor: float) -> Round:
    def at_speed(windows: Iterable[Observation]) -> tuple[Observation, ...]:
        return tuple(replace(each, speed_index=factor * each.speed_index) for each in windows)

    def scaled(measurement: Measurement) -> Measurement:
        return replace(
            measurement,
            windows=at_speed(measurement.windows),
            calm=at_speed(measurement.calm),
            left_out=at_speed(measurement.left_out),
        )

    return replace(measured, measurement=scaled(measured.measurement))
