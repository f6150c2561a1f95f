"""Compare two rounds of one search: the screening test, fed with the correlation of all rounds so far."""

from __future__ import annotations

from collections.abc import Sequence

from profiler.observation import Measurement
from profiler.policies.policy import Parameters
from profiler.rounds import Round
from profiler.statistics.comparison import Comparison
from profiler.statistics.correlation import pooled_lag1
from profiler.statistics.screening import screen


def screened(
    reference: Measurement, candidate: Measurement, history: Sequence[Round], parameters: Parameters
) -> Comparison:
    """Screen a candidate against its reference."""
    correlation = pooled_lag1([*(past.measurement.throughputs for past in history), candidate.throughputs])
    return screen(
        reference.throughputs,
        candidate.throughputs,
        correlation=correlation,
        alpha=parameters.significance,
        relevant_effect=parameters.relevant_effect,
    )
