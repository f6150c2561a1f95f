"""Baseline: the whole grid, for small DAGs; the yardstick."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from profiler.errors import UsageError
from profiler.experiment.rounds import Action, Step
from profiler.job.configuration import Configuration
from profiler.questions.search.policies.incumbent import Search
from profiler.questions.search.policies.policy import Policy, PolicyPlan, SearchContext
from profiler.questions.search.policies.stepwise.start import one_task_each

MOST = 2000
"""Configurations beyond which the grid is refused."""


class Exhaustive:
    """Measure every configuration that fits the slots."""

    name = "exhaustive"

    def plan(self, context: SearchContext) -> PolicyPlan:
        """Yield the grid, smallest configurations first."""
        search = Search(context)
        grid = list(itertools.islice(_grid(search), MOST + 1))
        if len(grid) > MOST:
            raise UsageError(
                f"The grid of '{context.topology.name}' has more than {MOST} configurations.",
                hint="Use fewer --slots, max_tasks on operators, or --policy stepwise.",
            )
        yield from one_task_each(search)
        for configuration in grid:
            if search.known(configuration):
                continue
            measured = yield from search.attempt(search.trial(configuration, Step.SEARCH, Action.JUMP))
            yield from search.keep_fastest(measured)


def _grid(search: Search) -> Iterator[Configuration]:
    slots = search.context.slots
    ranges = [range(search.clamp(name, 1), search.clamp(name, slots) + 1) for name in search.topology.names]
    for counts in itertools.product(*ranges):
        if sum(counts) <= slots:
            yield Configuration.of(dict(zip(search.topology.names, counts, strict=True)))


POLICY: type[Policy] = Exhaustive
