"""What a job costs the machine's cores: so much whatever comes, and so much for each row; pure.

A task that polls, a batch that begins and ends, a broker and a generator at rest cost the same for ten rows a second as
for ten thousand. Divided by the rows of a slow job they look like a cost of its rows, and a job that waits for a
service seems to need all cores at a fraction of what it can do. So the two are read apart, from two rates:

    cores in use = fixed + seconds per row · rows per second
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from profiler.experiment.observation import Measurement, Observation
from profiler.questions.search.readings.loads import cores_in_use


@dataclass(frozen=True, slots=True)
class CpuCost:
    """CPU that a job takes of its machine, its broker and its generator included where they share it."""

    fixed_cores: float
    s_per_row: float
    """CPU seconds per source row; 0 where they were lost in the fixed costs, so that nobody knows."""

    def most_per_s(self, cores: float) -> float:
        """Return the source rows per second from which on these cores are all in use; infinite where unknown."""
        return max(0.0, cores - self.fixed_cores) / self.s_per_row if self.s_per_row > 0 else math.inf

    def under(self, measurement: Measurement) -> CpuCost:
        """Return the cost with that of a row as it was under this load; what is fixed was seen before."""
        rows_cores = max(0.0, cores_in_use(measurement.windows) - self.fixed_cores)
        return replace(self, s_per_row=rows_cores / measurement.throughput_per_s)


def cpu_of_two_rates(measurement: Measurement) -> CpuCost:
    """Read both costs off a round with a small stream and stress."""
    used, rate_per_s = cores_in_use(measurement.windows), _rows_per_s(measurement.windows)
    more_cores, more_per_s = used - cores_in_use(measurement.calm), rate_per_s - _rows_per_s(measurement.calm)
    of_rows_s = max(0.0, more_cores / more_per_s) if more_per_s > 0 else math.inf
    s_per_row = min(of_rows_s, used / rate_per_s if rate_per_s > 0 else 0.0)
    return CpuCost(used - s_per_row * rate_per_s, s_per_row)


def _rows_per_s(windows: Sequence[Observation]) -> float:
    return statistics.fmean(window.throughput_per_s for window in windows)
