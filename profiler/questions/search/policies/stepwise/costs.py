"""What a source row costs every element, waiting and work apart: read from step 1 first, then from rounds under load.

Busy seconds hold three things: work, waiting for something outside, and, where the cores are in use, waiting for a
core. The last is no cost of a row: it goes away with more cores or fewer threads. So a round that has cores left tells
its loads as they are; of one that has none only the CPU seconds count, and the waiting is that of step 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from profiler.experiment.rounds import Round
from profiler.questions.search.policies.policy import SearchContext
from profiler.questions.search.readings.cpu_cost import CpuCost
from profiler.questions.search.readings.features import Features
from profiler.questions.search.readings.loads import cpu_per_source_row, cpu_share, loads_per_source_row, part_left

IN_USE = 0.85
"""Share of the cores in use from which on tasks are taken to wait for them."""
IN_USE_OF_SEVERAL_NODES = 0.6
"""The same where there are several nodes: the fullest one is full before the others are."""
THREADS_PER_CORE = 4
"""Tasks with work for a core beyond which more of them share it no better and cost more."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds per source row and element, and what all cores do."""

    busy_s: Mapping[str, float]
    """Seconds that a row keeps a task which need not wait for a core."""
    cpu_s: Mapping[str, float]
    """Seconds of these in which it takes a core."""
    whole: CpuCost

    @classmethod
    def of(cls, features: Features) -> Costs:
        """Return what step 1 saw."""
        return cls(
            {name: feature.busy_s_per_source_row for name, feature in features.elements.items()},
            {name: feature.cpu_s_per_source_row for name, feature in features.elements.items()},
            features.cpu,
        )

    def under(self, measured: Round, context: SearchContext) -> Costs:
        """Return what a round saw, given what step 1 did."""
        alone = self._without_waits_for_cores(measured)
        if waits_for_cores(measured, context):
            return alone
        return replace(alone, busy_s=loads_per_source_row(measured))

    def at_least(self, measured: Round) -> Costs:
        """Return the least that rows may cost, given what a round saw: a core may be waited for on one node of many."""
        alone, seen = self._without_waits_for_cores(measured), loads_per_source_row(measured)
        return replace(alone, busy_s={name: min(busy_s, alone.busy_s[name]) for name, busy_s in seen.items()})

    def _without_waits_for_cores(self, measured: Round) -> Costs:
        cpu_s = cpu_per_source_row(measured)
        busy_s = {name: cpu_s[name] + max(0.0, self.busy_s[name] - self.cpu_s[name]) for name in cpu_s}
        return Costs(busy_s, cpu_s, self.whole.under(measured.measurement))

    def sharing_cores(self) -> dict[str, float]:
        """Return the seconds that a row keeps a task whose core is shared by as many threads as are worth having.

        Tasks for these need no core more: only the part of their time in which they work is stretched, so that a task
        which waits is bounded by the slots alone.
        """
        return {name: busy_s + (THREADS_PER_CORE - 1) * self.cpu_s[name] for name, busy_s in self.busy_s.items()}


def waits_for_cores(measured: Round, context: SearchContext) -> bool:
    """Tell whether tasks of a round wait for cores: those that neighbours left are in use."""
    in_use = IN_USE if context.nodes == 1 else IN_USE_OF_SEVERAL_NODES
    return cpu_share(measured, context.cores) >= in_use * part_left(measured)
