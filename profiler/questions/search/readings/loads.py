"""What a round tells about its elements: the share of time they work, and their loads per source row.

Both are those of the busiest task: it saturates first and holds the others back, so the mean over the tasks would hide
a bottleneck behind a skewed key, and lead to worse answers (scripts/benches/results/quality.md).
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from profiler.experiment.observation import Observation
from profiler.experiment.rounds import Round


def capacities(measured: Round) -> dict[str, float]:
    """Return busy seconds of the busiest task / seconds per element: 1 works all the time."""
    duration_s = measured.measurement.duration_s
    return {name: seen.busiest_task_s / duration_s for name, seen in measured.measurement.operators.items()}


def loads_per_source_row(measured: Round) -> dict[str, float]:
    """Return busy seconds per source row and element under this load, as if all tasks were as busy as the busiest."""
    rows = measured.measurement.source_rows
    return {name: seen.busiest_task_s * seen.tasks / rows for name, seen in measured.measurement.operators.items()}


def cpu_per_source_row(measured: Round) -> dict[str, float]:
    """Return CPU seconds per source row and element, as they are under this load."""
    rows = measured.measurement.source_rows
    return {name: seen.cpu_s / rows for name, seen in measured.measurement.operators.items()}


def cores_in_use(windows: Sequence[Observation]) -> float:
    """Return the cores in use: by the elements, and by what shares the machine with them."""
    duration_s = sum(window.duration_s for window in windows)
    own_s = sum(seen.cpu_s for window in windows for seen in window.operators.values())
    whole = [used for window in windows if (used := window.lasting_cores) is not None]
    return max(own_s / duration_s, statistics.fmean(whole) if whole else 0.0)


def cpu_share(measured: Round, cores: int) -> float:
    """Return the share of all cores in use."""
    return cores_in_use(measured.measurement.windows) / cores


def part_left(measured: Round) -> float:
    """Return the part of the cores that other programs left to the job."""
    return statistics.fmean(window.part_left for window in measured.measurement.windows)


def busiest_first(shares: Mapping[str, float], names: Iterable[str]) -> list[str]:
    """Order elements by their capacity, highest first; ties by name, so that replays agree."""
    return sorted(names, key=lambda name: (-shares.get(name, 0.0), name))
