"""How far a reported throughput may be off."""

from __future__ import annotations

from profiler.questions.search.readings.evidence import windows_at_stress
from profiler.questions.search.result import SearchResult
from profiler.statistics.interval import mean_interval
from profiler.statistics.search_noise import search_noise


def throughput_interval(profile: SearchResult) -> tuple[float, float]:
    """Return the 95 % interval of the answer's mean throughput, with the correlation of all rounds' windows."""
    noise = search_noise(windows_at_stress(profile.rounds))
    return mean_interval(profile.answer.measurement.throughputs, noise.correlation)
