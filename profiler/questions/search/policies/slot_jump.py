"""Baseline: the slot programme alone, solved once from step 1's features (the way of model-based planners)."""

from __future__ import annotations

from profiler.questions.search.policies.incumbent import Search
from profiler.questions.search.policies.policy import Policy, PolicyPlan, SearchContext
from profiler.questions.search.policies.stepwise.proposals import SlotProposals
from profiler.questions.search.policies.stepwise.start import one_task_each
from profiler.questions.search.readings.features import application_features


class Slots:
    """Measure the features, jump to the programme's solution, and keep it if it is better."""

    name = "slots"

    def plan(self, context: SearchContext) -> PolicyPlan:
        """Yield the start and one jump."""
        search = Search(context)
        yield from one_task_each(search)
        features = application_features(context.topology, search.rounds[-1].measurement)
        yield from SlotProposals(search, features, left=1).tried()


POLICY: type[Policy] = Slots
