"""Baseline: one more task for the busiest operator above a threshold, round after round, nothing revoked.

The rule that hand-tuners and simple auto-scalers use. It ends when nothing is above the threshold, nothing may grow, or
no slot is left; the answer is the fastest round that keeps the latency.
"""

from __future__ import annotations

from profiler.experiment.rounds import Action, Step
from profiler.questions.search.policies.incumbent import Search
from profiler.questions.search.policies.policy import Policy, PolicyPlan, SearchContext
from profiler.questions.search.policies.stepwise.start import one_task_each
from profiler.questions.search.readings.loads import busiest_first, capacities

ABOVE = 0.8


class Threshold:
    """Scale the busiest operator above 80 % by one task."""

    name = "threshold"

    def plan(self, context: SearchContext) -> PolicyPlan:
        """Yield one addition after another."""
        search = Search(context)
        yield from one_task_each(search)
        while True:
            current = search.rounds[-1]
            shares = capacities(current)
            open_names = [
                name
                for name, count in current.configuration.items
                if shares.get(name, 0) > ABOVE and search.clamp(name, count + 1) > count
            ]
            if not open_names:
                return
            grown = current.configuration.plus({busiest_first(shares, open_names)[0]: 1})
            if not search.fits(grown):
                return
            measured = yield from search.attempt(search.trial(grown, Step.SEARCH, Action.ENHANCE))
            yield from search.keep_fastest(measured)


POLICY: type[Policy] = Threshold
