"""A comparison's answer as one value: the ranking of the variants, every pair, and the blocks that they rest on.

It is what `profile compare --json` writes, and it can be made again from its document (`document.py`): the terminal,
the exports and the history read this value, so that they cannot say different things. The published schema
`compare-1.schema.json` is generated from it. Keys may be added; those that are here stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from profiler.experiment.observation import Latency
from profiler.history.migrations import COMPARE_RESULT
from profiler.questions.compare.ranking import RankVerdict
from profiler.report.documents import OMITTED_IF_NONE
from profiler.report.published import Count, NotTold, Part, Tally, Tasks, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareLimitsAnswer:
    """What the comparison called a difference, and what a tie."""

    significance: Part
    relevant_effect: float
    """The smallest difference that is called one."""
    tie: float
    """The difference below which variants tie."""


@dataclass(frozen=True, slots=True)
class Profiled:
    """The way in which a variant's configuration was found."""

    run: str
    """The run that found it; empty where it was not kept."""
    rounds: Count
    """The number of rounds that its search needed."""
    throughput_per_s: float
    """The throughput that the profile measured."""
    reused: bool
    """Whether the profile was stored, and still fits."""
    complete: bool
    """Whether the search ended by itself; False where the budget ended it."""
    kept_per_s: float | NotTold = field(default=None, metadata=OMITTED_IF_NONE)
    """The highest rate at which its round was seen to keep the latency; None where none was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstFirst:
    """A variant against the first one; the effect is the variant's."""

    verdict: Literal["slower", "tie", "inconclusive"]
    effect: float
    low: float | None
    high: float | None
    confidence: Part
    adjusted_p: Part


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantAnswer:
    """One variant at its best."""

    name: Text
    topology: Text
    rank: Count
    """One more than the number of variants that are faster."""
    tasks: Tasks
    slots: Annotated[int, Field(ge=2)]
    offered_per_s: float | None
    """The rate to which its best configuration throttles the source."""
    throughput_per_s: float | None
    """Source rows, head to head, normalised by the speed index."""
    against_first: AgainstFirst | None
    latency_ms: Latency | None
    latency_at_per_s: float
    """The offered rate at which the latency was measured."""
    cpu_us_per_row: float | None
    """The CPU time of the job per source row × speed index."""
    blocks: Tally
    profile: Profiled


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAnswer:
    """Two variants, the one that was seen to be faster first."""

    variant: Text
    against: Text
    verdict: RankVerdict
    effect: float
    low: float | None
    high: float | None
    confidence: Part
    """The confidence of the interval."""
    p: Part
    """The two-sided p of no difference."""
    adjusted_p: Part
    """The p after Holm's adjustment over the pairs of one look, and for the looks: significant below 0.05."""
    tie_p: Part
    """The p of a difference beyond the limit of a tie, adjusted likewise."""
    detectable_effect: float | None
    """The smallest difference that is called with 80 % power."""
    mann_whitney_p: float | None
    """The two-sided p of Mann and Whitney; only where the blocks are not normally distributed."""
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareBlockAnswer:
    """What one block saw."""

    variant: Text
    throughput_per_s: float | None
    latency_p95_ms: float | None
    speed_index: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareAnswer:
    """What a comparison found, and all blocks that led to it."""

    schema: Annotated[str, WithJsonSchema({"const": COMPARE_RESULT.mark})] = COMPARE_RESULT.mark
    run: Text
    engine: Text
    verdict: RankVerdict
    """The verdict on the variants at the top."""
    exit_code: Annotated[int, WithJsonSchema({"enum": [0, 3, 4]})]
    """The exit code: 3 where the history did not take all of it, 4 where the verdict is inconclusive."""
    why: Text
    fastest: Annotated[tuple[Text, ...], Field(min_length=1)]
    """The variants of the first rank; one where the verdict is faster."""
    slots: Count | None
    """The slots that every variant might use at the most; null where each had all."""
    limits: CompareLimitsAnswer
    variants: Annotated[tuple[VariantAnswer, ...], Field(min_length=2)]
    """The variants in the order of their ranks."""
    pairs: Annotated[tuple[PairAnswer, ...], Field(min_length=1)]
    """Every pair, the variant that was seen to be faster first."""
    blocks: tuple[CompareBlockAnswer, ...]
    """The blocks in the order in which they were measured."""
    complete: bool
    """Whether all blocks were measured; False where the budget ended the comparison."""
    environment: Mapping[str, str]
    warnings: tuple[str, ...]
