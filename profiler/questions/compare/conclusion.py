"""What a comparison ends with, put together: the ranking, what it rests on, and what there is to know of its blocks."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from profiler.experiment.comparing.blocks import BLOCK_PROBE_LOAD
from profiler.experiment.measure import KEEPS_UP
from profiler.experiment.observation import BlockWindows, generator_limits, typical_latency
from profiler.questions.compare.answer import (
    AgainstFirst,
    CompareAnswer,
    CompareBlockAnswer,
    CompareLimitsAnswer,
    PairAnswer,
    Profiled,
    VariantAnswer,
)
from profiler.questions.compare.experiment import CompareResult, Variant
from profiler.questions.compare.ranking import Pair, RankVerdict, Terms
from profiler.questions.compare.words import why
from profiler.questions.gate.criteria import cpu_s_per_row
from profiler.report.doubts import ADVICE
from profiler.statistics.doubt import Doubt

EXIT_CODES = {RankVerdict.FASTER: 0, RankVerdict.TIE: 0, RankVerdict.INCONCLUSIVE: 4}
_OF_OTHERS: Mapping[RankVerdict, Literal["slower", "tie", "inconclusive"]] = {
    RankVerdict.FASTER: "slower",
    RankVerdict.TIE: "tie",
    RankVerdict.INCONCLUSIVE: "inconclusive",
}
"""The verdict on a variant of whose pair with the first one that is the verdict."""


@dataclass(frozen=True, slots=True)
class CompareCase:
    """The case of a comparison: what was compared, where and how."""

    engine: str
    profiled: tuple[Profiled, ...]
    """The profile of every variant."""
    terms: Terms
    slots: int | None
    """The slots that every variant might use at the most; None where each had all."""
    environment: Mapping[str, str]
    warnings: tuple[str, ...] = ()


def compare_answer(case: CompareCase, outcome: CompareResult, *, run: str) -> CompareAnswer:
    """Return what a comparison ended with, variants in the order of their ranks; `run` is its name in the history."""
    ranking, terms = outcome.ranking, case.terms
    names = [variant.name for variant in outcome.variants]
    return CompareAnswer(
        run=run,
        engine=case.engine,
        verdict=ranking.verdict,
        exit_code=EXIT_CODES[ranking.verdict],
        why=why(outcome, terms),
        fastest=tuple(names[arm] for arm in ranking.leaders),
        slots=case.slots,
        limits=CompareLimitsAnswer(significance=terms.alpha, relevant_effect=terms.relevant_effect, tie=terms.margin),
        variants=tuple(_variant(arm, case.profiled[arm], outcome) for arm in ranking.order),
        pairs=tuple(_pair(pair, names) for pair in ranking.pairs),
        blocks=tuple(_block(block, names) for block in outcome.blocks),
        complete=outcome.complete,
        environment=case.environment,
        warnings=(*case.warnings, *_warnings(case, outcome)),
    )


def _variant(arm: int, profiled: Profiled, outcome: CompareResult) -> VariantAnswer:
    variant, blocks = outcome.variants[arm], outcome.blocks_of(arm)
    cpu_us = [1e6 * cpu_s_per_row(window) for block in blocks for window in (*block.windows, *block.probe)]
    return VariantAnswer(
        name=variant.name,
        topology=variant.topology.name,
        rank=outcome.ranking.ranks[arm],
        tasks=dict(variant.configuration.tasks),
        slots=variant.configuration.slots,
        offered_per_s=variant.configuration.offered_per_s,
        throughput_per_s=outcome.throughput_per_s(arm),
        against_first=_against_first(arm, outcome),
        latency_ms=typical_latency([window for block in blocks for window in block.probe]),
        latency_at_per_s=BLOCK_PROBE_LOAD * variant.expected_per_s,
        cpu_us_per_row=_mean(cpu_us),
        blocks=len(blocks),
        profile=profiled,
    )


def _against_first(arm: int, outcome: CompareResult) -> AgainstFirst | None:
    """Turn the pair of a variant and the first one such that the effect is the variant's."""
    first = outcome.ranking.order[0]
    if arm == first:
        return None
    pair = outcome.ranking.pair(first, arm)
    ends = (pair.low, pair.high) if pair.first == arm else (_inverse(pair.high), _inverse(pair.low))
    return AgainstFirst(
        verdict=_OF_OTHERS[pair.verdict],
        effect=outcome.effect(arm),
        low=_figure(ends[0]),
        high=_figure(ends[1]),
        confidence=pair.confidence,
        adjusted_p=pair.adjusted_p,
    )


def _inverse(effect: float) -> float:
    """Return the effect the other way round: of a half it is a doubling."""
    return math.inf if effect <= -1 else 1 / (1 + effect) - 1


def _pair(pair: Pair, names: Sequence[str]) -> PairAnswer:
    return PairAnswer(
        variant=names[pair.first],
        against=names[pair.second],
        verdict=pair.verdict,
        effect=pair.effect,
        low=_figure(pair.low),
        high=_figure(pair.high),
        confidence=pair.confidence,
        p=pair.p,
        adjusted_p=pair.adjusted_p,
        tie_p=pair.tie_p,
        detectable_effect=_figure(pair.detectable_effect),
        mann_whitney_p=pair.mann_whitney_p,
        warnings=tuple(map(str, pair.warnings)),
    )


def _block(block: BlockWindows, names: Sequence[str]) -> CompareBlockAnswer:
    latency = typical_latency(block.probe)
    return CompareBlockAnswer(
        variant=names[block.arm],
        throughput_per_s=_mean([window.throughput_per_s for window in block.windows]),
        latency_p95_ms=None if latency is None else latency.p95,
        speed_index=_mean([window.speed_index for window in block.windows]),
    )


def _mean(values: Sequence[float]) -> float | None:
    known = [value for value in values if math.isfinite(value)]
    return statistics.fmean(known) if known else None


def _figure(value: float) -> float | None:
    """Leave out what JSON has no number for."""
    return value if math.isfinite(value) else None


def _warnings(case: CompareCase, outcome: CompareResult) -> Iterator[str]:
    if not outcome.complete:
        yield "the time was up before all blocks were measured: give the comparison more with --budget"
    for variant, profiled in zip(outcome.variants, case.profiled, strict=True):
        if not profiled.complete:
            yield f"{variant.name}: the time was up before its best configuration was found"
    if _read_different_data(outcome.variants):
        yield "the variants read different data: a row of one may be more work than a row of another"
    for arm, variant in enumerate(outcome.variants):
        for doubt in _doubts(variant, outcome.blocks_of(arm)):
            yield f"{variant.name}: {doubt}. {ADVICE[doubt]}"
    names = [variant.name for variant in outcome.variants]
    for pair in outcome.ranking.pairs:
        for doubt in pair.warnings:
            yield f"{names[pair.first]} against {names[pair.second]}: {doubt}. {ADVICE[doubt]}"


def _read_different_data(variants: Sequence[Variant]) -> bool:
    return len({frozenset(source.payloads for source in variant.topology.sources) for variant in variants}) > 1


def _doubts(variant: Variant, blocks: Sequence[BlockWindows]) -> Iterator[Doubt]:
    windows = [window for block in blocks for window in block.windows]
    if generator_limits(windows):
        yield Doubt.GENERATOR_LIMITED
    kept_up = [window.throughput_per_s >= KEEPS_UP * window.offered_per_s for window in windows]
    if variant.configuration.offered_per_s is None and sum(kept_up) > len(windows) / 2:
        yield Doubt.NOT_SATURATED
