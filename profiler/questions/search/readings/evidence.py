"""Compare two rounds of one search by the screening test, which knows the noise of all rounds so far.

The speed that it normalises by is that of the part of the machine which others left to the job: what a neighbour took
in one of two rounds is no difference between them. As that allows for what others took, windows count here that a round
leaves out: they show best what a neighbour does (scripts/benches/results/covariates.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from profiler.experiment.disturbed import can_be_allowed_for
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
    comparable = (window for window in measurement.left_out if can_be_allowed_for(window))
    seen = sorted((*measurement.windows, *comparable), key=lambda window: window.start_s)
    return RoundWindows(
        tuple(window.throughput_per_s for window in seen), tuple(window.machine_speed for window in seen)
    )
