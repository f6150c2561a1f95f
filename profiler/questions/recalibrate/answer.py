"""A recalibration's answer as one value: what changed since a profile, what was repeated of it, what came of that.

It is what `profile recalibrate --json` writes: the terminal and the exports read this value, so that they cannot say
different things. `result` is the profile that came of it; it is what the history keeps. The published schema
`recalibrate-1.schema.json` is generated from it. Keys may be added; those that are here stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import WithJsonSchema

from profiler.history.fingerprint.fingerprint import Difference
from profiler.job.configuration import Configuration
from profiler.questions.recalibrate.decision import RecalibrationVerdict
from profiler.questions.recalibrate.moved_features import MovedQuantity
from profiler.questions.recalibrate.stored_answer import Standing
from profiler.questions.recalibrate.warm_start import Scope
from profiler.questions.search.answer import AN_OBJECT, Profile
from profiler.report.published import Count, Figure, Published, Tally, Tasks, Text
from profiler.statistics.result import Verdict

SCHEMA = "profile-recalibrate/1"
RepeatedStep = Literal[1, 2, 3]
PublishedDifference = Annotated[Difference, Published(properties={"what": {"type": "string", "minLength": 1}})]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswer:
    """The answer of a stored profile."""

    run: Text
    tasks: Tasks
    offered_per_s: float | None
    throughput_per_s: float

    @property
    def configuration(self) -> Configuration:
        """The tasks, with the rate they are to be offered."""
        return Configuration.of(self.tasks, self.offered_per_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmStartAnswer(StoredAnswer):
    """The stored profile that the rounds start from, and what is not as it was then."""

    differences: tuple[PublishedDifference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainAnswer:
    """A stored answer that was measured again, against how it was stored."""

    standing: Standing
    test: str
    verdict: Verdict
    effect: Figure
    low: Figure
    high: Figure
    p: float
    detectable_effect: Figure
    n_reference: int
    n_candidate: int
    correlation: float
    mann_whitney_p: float | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MovementAnswer:
    """What a source row costs one operator, before and now."""

    operator: str
    quantity: MovedQuantity
    before_us: float
    now_us: float
    effect: float
    p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalibrateAnswer:
    """What became of a stored profile; in a dry run only what would be repeated of it."""

    schema: Annotated[str, WithJsonSchema({"const": SCHEMA})] = SCHEMA
    topology: Text
    engine: Text
    profile: StoredAnswer
    """The profile that was asked about."""
    differences: tuple[PublishedDifference, ...]
    warm_start: WarmStartAnswer
    """The nearest stored profile, which the rounds start from; often the same."""
    scope: Scope
    steps: tuple[RepeatedStep, ...]
    """The steps that are repeated in any case; after features that moved, 2 and 3 as well."""
    why: Text
    dry_run: bool
    verdict: RecalibrationVerdict | None
    """The verdict on the profile that was asked about: whether its tasks are the answer still."""
    exit_code: Annotated[int, WithJsonSchema({"enum": [0, 3, 4]})]
    """The exit code: 3 where the history did not take all of it, 4 where the verdict is inconclusive."""
    conclusion: Text | None
    again: (
        Annotated[
            AgainAnswer,
            Published(optional=("test", "n_reference", "n_candidate", "correlation", "mann_whitney_p", "warnings")),
        ]
        | None
    )
    """The answer of the warm start measured again, against how it was stored; null where it was not."""
    moved: tuple[MovementAnswer, ...] | None
    """The features that moved; null where step 1 was not repeated or had nothing to compare with."""
    rounds: Tally
    full_rounds: Count
    """The rounds of the whole profile that first found the stored answer."""
    result: Annotated[Profile, AN_OBJECT] | None
    """The profile that came of it, a document of the schema profile/1; null in a dry run."""
    warnings: tuple[str, ...]
