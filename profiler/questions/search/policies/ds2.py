"""Baseline: DS2 (Kalavri et al. 2018): tasks from true processing rates in one pass over the DAG.

    tasks_i = target rate_i / true rate per task_i,   true rate = rows / busy time

For a profile the target is the largest source rate whose tasks fit the slots. Rates are re-measured after each jump,
at most three times, until the proposal repeats; nothing is tested or revoked.
"""

from __future__ import annotations

import math

from profiler.experiment.rounds import Action, Step
from profiler.questions.search.policies.incumbent import Search
from profiler.questions.search.policies.policy import Policy, PolicyPlan, SearchContext
from profiler.questions.search.policies.stepwise.slot_programme import element_bounds, propose
from profiler.questions.search.policies.stepwise.start import one_task_each
from profiler.questions.search.readings.loads import loads_per_source_row

MOST = 3


class DS2:
    """Jump to what the true rates ask for."""

    name = "ds2"

    def plan(self, context: SearchContext) -> PolicyPlan:
        """Yield up to three jumps."""
        search = Search(context)
        yield from one_task_each(search)
        for _ in range(MOST):
            loads = loads_per_source_row(search.rounds[-1])
            bounds = element_bounds(search, loads)
            proposal = propose(loads, math.inf, bounds=bounds, fixed={}, slots=context.slots)
            configuration = search.bounded(search.rounds[0].configuration, proposal.tasks)
            if search.known(configuration):
                return
            trial = search.trial(configuration, Step.SEARCH, Action.JUMP, predicted_per_s=proposal.predicted_per_s)
            measured = yield from search.attempt(trial)
            yield from search.keep_fastest(measured)


POLICY: type[Policy] = DS2
