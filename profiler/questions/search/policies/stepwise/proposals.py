"""The slot programme's trials: from the features first, then from the loads that were measured under load."""

from __future__ import annotations

import math
from collections.abc import Mapping

from profiler.experiment.rounds import Action, Round, Step
from profiler.questions.search.policies.incumbent import Moves, Search
from profiler.questions.search.policies.stepwise.slot_programme import Proposal, balanced, element_bounds, propose
from profiler.questions.search.readings.features import Features
from profiler.questions.search.readings.loads import cpu_per_source_row, loads_per_source_row

MOST = 3
"""The most proposals that are made: the second and third use loads measured at the one before."""

THREADS_PER_CORE = 4
"""Tasks per core beyond which more of them share the cores no better and cost more, where the cores are the limit."""


def slot_proposals(search: Search, features: Features, *, most: int = MOST, balance: bool = False) -> Moves:
    """Try what the slot programme proposes until it repeats itself.

    Where the cores are the limit, the first proposal is balanced over the nodes and the second fills the slots in
    proportion to the loads; where the slots are, each one corrects the loads of the one before.
    """
    solver = _Solver(search, features, balance=balance)
    loads = {name: feature.busy_s_per_source_row for name, feature in features.elements.items()}
    cpu_s = sum(feature.cpu_s_per_source_row for feature in features.elements.values())
    filled = False
    for _ in range(most):
        proposal = solver.solve(loads, cpu_s, fill=filled)
        configuration = search.bounded(search.context.smallest(), proposal.tasks)
        if search.known(configuration) or not search.fits(configuration):
            return
        trial = search.trial(configuration, Step.PLATFORM, Action.SLOTS, predicted_per_s=proposal.predicted_per_s)
        measured = yield from search.attempt(trial)
        yield from search.judge(measured)
        if filled:
            return
        filled = balance and proposal.cpu_bound
        loads = _uncontended_loads(features, measured) if filled else loads_per_source_row(measured)
        cpu_s = sum(cpu_per_source_row(measured).values())


def _uncontended_loads(features: Features, measured: Round) -> dict[str, float]:
    """Return CPU as it is under load plus waiting as it is without: busy time would count the wait for a core."""
    cpu = cpu_per_source_row(measured)
    return {
        name: cpu[name] + max(0.0, feature.busy_s_per_source_row - feature.cpu_s_per_source_row)
        for name, feature in features.elements.items()
    }


class _Solver:
    """The slot programme of one search: what stays the same from proposal to proposal."""

    def __init__(self, search: Search, features: Features, *, balance: bool) -> None:
        self.search = search
        self.context = search.context
        self.fixed = {
            name: search.clamp(name, math.ceil(features.elements[name].busy_s_per_s - 1e-9))
            for name in features.dominated
        }
        self.balance = balance

    def solve(self, loads: Mapping[str, float], cpu_s: float, *, fill: bool) -> Proposal:
        """Solve the programme for these loads per source row, within bounds that rounds may have narrowed."""
        names = (name for name in self.search.topology.names if name not in self.fixed)
        bounds = element_bounds(self.search, names)
        proposal = propose(
            {name: loads[name] for name in bounds},
            cpu_s,
            bounds=bounds,
            fixed=self.fixed,
            slots=min(self.context.slots, THREADS_PER_CORE * self.context.cores) if fill else self.context.slots,
            cores=self.context.cores,
            fill=fill,
        )
        if fill or not self.balance:
            return proposal
        return balanced(proposal, bounds, slots=self.context.slots, nodes=self.context.nodes)
