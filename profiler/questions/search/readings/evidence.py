"""Compare two rounds of one search by the screening test, which knows the noise of all rounds so far."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from profiler.experiment.observation import Measurement
from profiler.experiment.rounds import Round
from profiler.statistics.result import Comparison
from profiler.statistics.search_noise import RoundWindows, screen_round

if TYPE_CHECKING:  # policies read evidence
    from profiler.questions.search.policies.policy import Parameters


def screened(
    reference: Measurement, candidate: Measurement, history: Iterable[Round], parameters: Parameters
) -> Comparison:
    """Screen a candidate against its reference; throttled rounds repeat their rate, so they tell no noise."""
    return screen_round(
        _windows(reference),
        _windows(candidate),
        windows_at_stress(history),
        alpha=parameters.significance,
        relevant_effect=parameters.relevant_effect,
    )


def windows_at_stress(history: Iterable[Round]) -> list[RoundWindows]:
    """Return the rounds as the statistics see them, those at a limited rate left out."""
    return [_windows(past.measurement) for past in history if past.configuration.offered_per_s is None]


def _windows(measurement: Measurement) -> RoundWindows:
    return RoundWindows(measurement.throughputs, tuple(window.machine_speed for window in measurement.windows))
