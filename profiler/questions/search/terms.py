"""The terms of a search that follow from the settings: how long to look, by when to end, what counts as better."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

from profiler.engines.catalogue import kind_of
from profiler.engines.opening import time_left_of
from profiler.experiment.window_plan import WindowPlan
from profiler.questions.search.loop import TimeLimits
from profiler.questions.search.policies.policy import Parameters
from profiler.questions.windows import fewer_of
from profiler.report.time_left import TYPICAL_ROUNDS, TimeLeft
from profiler.settings.declarations import DEFAULTS, Settings
from profiler.settings.option import Ability

QUICK_WINDOWS = 5
LONGEST_COLD = 2.5
"""The longest load of a new engine in times --warm-up: the first round tells what every operator costs, and a JVM that
compiles makes all of it dearer."""
SEARCH_S = 220.0
"""Seconds within which there is an answer: four minutes after the command was called, as starting takes 20 s before."""
CONFIRMED_S = 330.0
"""Seconds within which it is confirmed."""
ENDS_S = 450.0
"""Seconds within which the rate that it holds is found: all of it is to end in eight minutes."""
QUICK_BUDGET_S = 210.0
"""Seconds for the rounds of a quick profile; the services and the session take up to 20 s before, closing them takes
some after."""


@dataclass(frozen=True, slots=True)
class SearchTerms:
    """The terms that a search is made on."""

    parameters: Parameters
    design: WindowPlan
    slots: int | None
    budget_s: float | None
    limits: TimeLimits
    """The limits where there is no budget."""
    headroom: float = DEFAULTS.headroom
    """Part of the rate that holds which is not planned with."""

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the terms that the settings ask for."""
        return cls(
            policy_parameters(settings),
            search_design(settings),
            settings.slots,
            search_budget_s(settings),
            time_limits(settings),
            settings.headroom,
        )

    def time_left(
        self, settings: Settings, *, batch_s: float | None = None, rounds: int = TYPICAL_ROUNDS
    ) -> TimeLeft | None:
        """Return who guesses the time left of such a search."""
        ends_s = self.budget_s or self.limits.search_s
        return time_left_of(settings, self.design, batch_s=batch_s, budget_s=ends_s, rounds=rounds)


def search_design(settings: Settings) -> WindowPlan:
    """Return how long to look: `--quick` looks shorter and leaves the answer unconfirmed."""
    if settings.quick:
        return WindowPlan(windows=min(QUICK_WINDOWS, settings.windows), probe=2, calm=3, blocks=0)
    blocks = WindowPlan().blocks if settings.confirm else 0
    design = WindowPlan(windows=settings.windows, blocks=blocks, longest_cold=LONGEST_COLD)
    return fewer_of(design, settings.window_s)


def search_budget_s(settings: Settings) -> float | None:
    """Return how long a profile may take: `--quick` promises an answer in four minutes, however slow the machine is."""
    return QUICK_BUDGET_S if settings.budget_s is None and settings.quick else settings.budget_s


def time_limits(settings: Settings) -> TimeLimits:
    """Return by when search and confirmation on Spark are to end where the user set no time.

    Longer windows make longer rounds, and longer searches.
    """
    is_timed = kind_of(settings.engine).has(Ability.REAL_TIME)
    if not is_timed or settings.budget_s is not None or settings.quick:
        return TimeLimits()
    longer = max(1.0, settings.window_s / Settings().window_s)
    return TimeLimits(longer * SEARCH_S, longer * CONFIRMED_S, longer * ENDS_S)


def policy_parameters(settings: Settings) -> Parameters:
    """Return the method's knobs as the user set them."""
    knobs = [knob.name for knob in fields(Parameters) if hasattr(settings, knob.name)]
    return Parameters(**{knob: getattr(settings, knob) for knob in knobs})
