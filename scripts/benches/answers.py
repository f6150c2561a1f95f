"""Answers of profiles: the rate that one announces, and how much several differ when they are measured side by side."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from profiler.engines.opening import opened_engine
from profiler.experiment.comparing.blocks import Arm
from profiler.experiment.events import Event, RoundDecided
from profiler.job.configuration import Configuration
from profiler.questions.search.policies import POLICIES
from profiler.questions.search.result import SearchResult
from profiler.questions.search.session import loop_on
from profiler.questions.search.terms import SearchTerms
from profiler.settings.declarations import Settings
from profiler.statistics.confirmation import Block, confirm
from profiler.statistics.interval import mean_interval
from scripts.benches.rows import Row, row
from scripts.benches.warm_engine import TOPOLOGY, note

QUICK_GOAL_S = 240.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What one profile ended with."""

    tasks: Mapping[str, int]
    offered_per_s: float | None
    fused: bool
    per_s: float
    seconds: float
    """From the first call to the answer, Kafka and Spark included."""
    rounds: int

    @property
    def configuration(self) -> Configuration:
        """What to deploy."""
        return Configuration.of(self.tasks, self.offered_per_s)

    @property
    def arm(self) -> Arm:
        """One side of a comparison."""
        return Arm(self.configuration, self.per_s, fused=self.fused)


def announced_per_s(found: SearchResult) -> float:
    """Return the rate that a user of this answer relies on; 0 where none is announced."""
    return 0.0 if found.holding is None else found.holding.rate_per_s or 0.0


def quick_profile() -> Answer:
    """Do what `profile run word-count --quick` does, on an engine of its own; nothing is stored."""
    settings = Settings(quick=True)
    started_s = time.monotonic()
    with opened_engine(TOPOLOGY, settings, note) as engine:
        profile = loop_on(engine, TOPOLOGY, POLICIES[settings.policy](), SearchTerms.of(settings), _tell).run()
        seconds = time.monotonic() - started_s
    found = profile.answer
    return Answer(
        tasks=found.configuration.tasks,
        offered_per_s=found.configuration.offered_per_s,
        fused=found.trial.fused,
        per_s=found.throughput_per_s,
        seconds=seconds,
        rounds=len(profile.rounds),
    )


def profile_rows(answers: Sequence[Answer]) -> Iterator[Row]:
    """Yield how long the profiles took."""
    seconds = [answer.seconds for answer in answers]
    low, high = mean_interval(seconds)
    yield row(
        "a quick profile, start to answer",
        float(np.mean(seconds)),
        QUICK_GOAL_S,
        better="lower",
        unit="s",
        n=len(seconds),
        low=low,
        high=high,
    )


def spread_rows(answers: Sequence[Answer], blocks: Sequence[Block]) -> Iterator[Row]:
    """Yield what the answers did side by side, and the fastest over the slowest, by blocks in time order.

    The two are chosen by the same blocks, so that even equal answers have a spread above 1; whether the interval
    holds 1 is what counts.
    """
    levels = {}
    for arm, answer in enumerate(answers):
        means = [float(np.mean(block.values)) for block in blocks if block.arm == arm]
        levels[arm] = float(np.mean(means))
        low, high = mean_interval(means)
        yield row(f"answer {arm + 1}: {answer.configuration}", levels[arm], unit="/s", n=len(means), low=low, high=high)
    slowest, fastest = min(levels, key=levels.__getitem__), max(levels, key=levels.__getitem__)
    found = confirm(blocks, reference=slowest, candidate=fastest)
    yield row(
        "the fastest answer over the slowest",
        1 + found.effect,
        better="lower",
        against=f"answer {slowest + 1} ({found.verdict})",
        n=len(blocks),
        low=1 + found.low,
        high=1 + found.high,
    )


def _tell(event: Event) -> None:
    if isinstance(event, RoundDecided):
        seen = event.round
        note(f"  round {seen.number}: {seen.configuration} {seen.throughput_per_s:,.0f} rows/s")
