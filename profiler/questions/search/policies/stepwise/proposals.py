"""The slot programme's trials: from the features first, then from what was measured under load.

The programme is solved again after every round of its own, accepted or not, and once more after each step that found a
better place, until it repeats itself. Its first solution may be far off: a service that waits lets few rows through one
task, too few to tell what they cost the cores beside what batches cost. What was measured with many tasks tells it, so
the slots that are free while waiting bounds the job are taken by the next solution, in one jump.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from profiler.experiment.rounds import Action, Round, Step
from profiler.job.configuration import Configuration
from profiler.questions.search.policies.incumbent import Moves, Search
from profiler.questions.search.policies.stepwise.costs import Costs
from profiler.questions.search.policies.stepwise.slot_programme import (
    Bounds,
    Proposal,
    balanced,
    element_bounds,
    propose,
)
from profiler.questions.search.readings.features import Features

MOST = 4
"""The most proposals of one search: all but the first use what was measured under load."""


@dataclass(slots=True)
class SlotProposals:
    """The slot programme of one search."""

    search: Search
    features: Features
    balance: bool = False
    """Whether proposals are balanced over nodes, and have tasks enough to share cores, where these are the limit."""
    left: int = MOST
    """The proposals that may still be made."""

    def tried(self) -> Moves:
        """Try what the programme proposes until it repeats itself, or promises no gain that matters."""
        while self.left > 0:
            proposal = self._solved()
            configuration = self.search.bounded(self.search.context.smallest(), proposal.tasks)
            if self.search.known(configuration) or not self.search.fits(configuration):
                return
            if not self.is_worth_a_round(proposal.predicted_per_s):
                return
            self.left -= 1
            predicted_per_s = proposal.predicted_per_s if math.isfinite(proposal.predicted_per_s) else None
            trial = self.search.trial(configuration, Step.PLATFORM, Action.SLOTS, predicted_per_s=predicted_per_s)
            measured = yield from self.search.attempt(trial)
            yield from self.search.judge(measured)

    def is_worth_a_round(self, predicted_per_s: float) -> bool:
        """Tell whether a prediction is a relevant gain over the incumbent, which may lose some if it is late."""
        incumbent = self.search.incumbent
        if not self.search.meets_latency(incumbent):
            return True
        return predicted_per_s >= (1 + self.search.parameters.relevant_effect) * incumbent.throughput_per_s

    def most_per_s(self, configuration: Configuration) -> float:
        """Return the most that a configuration can do, by the least that the incumbent's rows cost."""
        return self._most_per_s(self._least_costs(), configuration.tasks)

    @property
    def best_per_s(self) -> float:
        """The most that any configuration can do with these slots and cores, by the least that rows cost."""
        costs = self._least_costs()
        return self._proposed(costs, costs.busy_s).predicted_per_s

    def _solved(self) -> Proposal:
        """Solve the programme with the costs that were seen last.

        Where the cores are the limit, the solution after one that was tried has tasks enough to share them; all are
        balanced over the nodes.
        """
        last = self.search.rounds[-1]
        is_own = last.trial.action is Action.SLOTS
        costs = self._costs(last if is_own else self.search.incumbent)
        proposal = self._proposed(costs, costs.busy_s)
        if not (self.balance and proposal.cpu_bound):
            return proposal
        if is_own:
            sharing = self._proposed(costs, costs.sharing_cores())
            proposal = replace(sharing, cpu_bound=True)
        context = self.search.context
        even = balanced(proposal, costs, self._bounds(), slots=context.slots, cores=context.cores, nodes=context.nodes)
        return replace(even, predicted_per_s=self._most_per_s(costs, even.tasks))

    def _proposed(self, costs: Costs, loads: Mapping[str, float]) -> Proposal:
        """Solve the programme for loads per source row, within bounds that rounds may have narrowed."""
        bounds, context = self._bounds(), self.search.context
        return propose(
            {name: loads[name] for name in bounds},
            costs.whole.most_per_s(context.cores),
            bounds=bounds,
            fixed={
                name: self.search.clamp(name, math.ceil(self.features.elements[name].busy_s_per_s - 1e-9))
                for name in self.features.dominated
            },
            slots=context.slots,
        )

    def _most_per_s(self, costs: Costs, tasks: Mapping[str, int]) -> float:
        rates = (tasks[name] / costs.busy_s[name] for name in self._scaled() if costs.busy_s[name] > 0)
        return min([costs.whole.most_per_s(self.search.context.cores), *rates])

    def _costs(self, measured: Round) -> Costs:
        """Return what a row costs as a round saw it; of one task each, and of the job as written, step 1 tells more."""
        costs = Costs.of(self.features)
        return costs if _is_told_by_step_one(measured) else costs.under(measured, self.search.context)

    def _least_costs(self) -> Costs:
        costs, incumbent = Costs.of(self.features), self.search.incumbent
        return costs if _is_told_by_step_one(incumbent) else costs.at_least(incumbent)

    def _scaled(self) -> list[str]:
        return [name for name in self.search.topology.names if name not in self.features.dominated]

    def _bounds(self) -> dict[str, Bounds]:
        return element_bounds(self.search, self._scaled())


def _is_told_by_step_one(measured: Round) -> bool:
    return measured.trial.action is Action.START or measured.trial.fused
