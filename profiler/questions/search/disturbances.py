"""What disturbed a round, told: how many of its windows, by what, and what it would have shown undisturbed."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from profiler.experiment.disturbed import Cause, causes, is_bound_by_cpu, is_disturbed, undisturbed_per_s
from profiler.experiment.observation import Measurement, Observation
from profiler.report.published import Count, Figure, Tally
from profiler.report.words import counted
from profiler.statistics.interval import mean_interval
from profiler.statistics.search_noise import SearchNoise


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundDisturbance:
    """What disturbed a round."""

    windows: Count
    """All windows at its load."""
    disturbed: Count
    """Windows of these that something held up."""
    measured_again: Tally
    """Disturbed windows in whose place others count."""
    cores: Count
    """Cores of the machine."""
    taken_cores: Figure
    """Cores that others had in the windows that they disturbed."""
    causes: tuple[Cause, ...]
    undisturbed_per_s: Figure | None
    """Mean throughput, had nobody taken cores that the job would have used; None where it was not bound by CPU."""
    undisturbed_interval_per_s: tuple[Figure, Figure] | None
    """Its 95 % interval."""


def disturbance_of(measurement: Measurement, noise: SearchNoise) -> RoundDisturbance | None:
    """Tell what disturbed a round; None where nothing did. `noise` is that of all rounds."""
    seen = (*measurement.windows, *measurement.left_out)
    disturbed = [window for window in seen if causes(window)]
    if not disturbed:
        return None
    taken = [
        window.disturbance.taken_cores
        for window in disturbed
        if window.disturbance is not None and Cause.OTHERS in causes(window)
    ]
    corrected = _corrected(measurement.windows, noise.speed_slope)
    return RoundDisturbance(
        windows=len(seen),
        disturbed=len(disturbed),
        measured_again=len(measurement.left_out),
        cores=max(window.disturbance.cores for window in disturbed if window.disturbance is not None),
        taken_cores=statistics.fmean(taken) if taken else 0.0,
        causes=tuple(cause for cause in Cause if any(cause in causes(window) for window in disturbed)),
        undisturbed_per_s=statistics.fmean(corrected) if corrected else None,
        undisturbed_interval_per_s=mean_interval(corrected, noise.correlation) if corrected else None,
    )


def _corrected(windows: Sequence[Observation], elasticity: float) -> list[float]:
    """Return the windows as they would have been, where some that count are disturbed and CPU bounds most of them."""
    bound = sum(map(is_bound_by_cpu, windows))
    if 2 * bound <= len(windows) or not any(map(is_disturbed, windows)):
        return []
    return [undisturbed_per_s(window, elasticity) for window in windows]


def disturbance_in_words(found: RoundDisturbance) -> str:
    """Say in a sentence what disturbed a round."""
    what = " and ".join(_reasons(found))
    said = f"{what} in {found.disturbed} of {counted(found.windows, 'window')}"
    if found.measured_again:
        again = "was" if found.measured_again == 1 else "were"
        said += f"; {found.measured_again} {again} measured again"
    if found.undisturbed_per_s is not None and found.undisturbed_interval_per_s is not None:
        low, high = found.undisturbed_interval_per_s
        said += f"; undisturbed it does about {found.undisturbed_per_s:,.0f} rows/s ({low:,.0f} to {high:,.0f})"
    return said


def _reasons(found: RoundDisturbance) -> Iterator[str]:
    if Cause.OTHERS in found.causes:
        yield f"other programs took {found.taken_cores:.1f} of {counted(found.cores, 'core')}"
    if Cause.PAGING in found.causes:
        yield "memory was moved to disk"
    if Cause.QUOTA in found.causes:
        yield "the quota of the container held the job back"
    if Cause.GARBAGE in found.causes:
        yield "the engine stood still to collect garbage"
