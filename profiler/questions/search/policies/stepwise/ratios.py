"""Algorithm 1 of Liu et al. 2017: from task loads to ratios of tasks.

Non-parallel operators have one task and bound the total flow; operators dominated by a logic-dependent one get a
fixed number; all others a ratio R_i = floor((Load_i / max Load) / slice), at least 1, divided by their greatest
common divisor (the paper's own runs show it: three equal operators scale by one, not by three).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from profiler.job.topology import Topology
from profiler.questions.search.readings.features import Features


@dataclass(frozen=True, slots=True)
class Ratios:
    """Ratios of operators that scale, and fixed tasks of those that do not; sources are in neither."""

    scalable: Mapping[str, int]
    fixed: Mapping[str, int]

    @property
    def tasks(self) -> dict[str, int]:
        """Tasks of all operators at the start of step 2."""
        return {**self.scalable, **self.fixed}


def task_ratios(topology: Topology, features: Features, slice_: float) -> Ratios:
    """Compute the ratios from step 1's features."""
    loads = {operator.name: features.load(topology, operator.name) for operator in topology.operators}
    single = {operator.name for operator in topology.operators if not operator.parallel}
    total_flow = min((1 / loads[name] for name in single if loads[name] > 0), default=math.inf)
    non_scalable = features.dominated - single
    smallest = min((load for load in loads.values() if load > 0), default=1.0)
    fixed = dict.fromkeys(single, 1)
    for name in non_scalable:
        flow = 1 / smallest if math.isinf(total_flow) else total_flow
        fixed[name] = max(1, math.ceil(loads[name] * flow - 1e-9))
    scaled = {name: load for name, load in loads.items() if name not in fixed}
    return Ratios(scalable=_whole(scaled, slice_), fixed=fixed)


def _whole(loads: Mapping[str, float], slice_: float) -> dict[str, int]:
    if not loads:
        return {}
    largest = max(loads.values())
    whole = {name: max(1, math.floor(load / largest / slice_ + 1e-9)) for name, load in loads.items()}
    divisor = math.gcd(*whole.values())
    return {name: count // divisor for name, count in whole.items()}
