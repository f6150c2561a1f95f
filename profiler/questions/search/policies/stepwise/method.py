"""The stepwise method as a policy: the steps in their order, each in a file of its own."""

from __future__ import annotations

from profiler.experiment.rounds import Action, Step, Trial
from profiler.job.configuration import Configuration
from profiler.questions.search.policies.incumbent import Moves, Search
from profiler.questions.search.policies.policy import PolicyPlan, SearchContext
from profiler.questions.search.policies.stepwise.additions import ALL, Addition
from profiler.questions.search.policies.stepwise.give_back import give_back
from profiler.questions.search.policies.stepwise.operator_capacity import operator_capacity
from profiler.questions.search.policies.stepwise.platform_capability import (
    late_is_far_ahead,
    platform_capability,
    ratio_start,
    throttle,
)
from profiler.questions.search.policies.stepwise.proposals import MOST, SlotProposals
from profiler.questions.search.policies.stepwise.ratios import task_ratios
from profiler.questions.search.policies.stepwise.start import one_task_each
from profiler.questions.search.readings.features import Features, application_features
from profiler.questions.search.readings.loads import cpu_share

SATURATED = 0.96
"""Share of the cores in use from which on further tasks are not tried: what they could still gain is not worth a
round."""


class Stepwise:
    """Application features, platform capability, operator capacity, and the additions."""

    name = "stepwise"

    def __init__(self, additions: frozenset[Addition] = ALL) -> None:
        self.additions = additions

    def plan(self, context: SearchContext) -> PolicyPlan:
        """Yield the trials of all steps and a decision on each."""
        search = Search(context)
        yield from _today(search)
        yield from one_task_each(search)
        features = application_features(context.topology, search.rounds[-1].measurement)
        yield from steps_two_and_three(search, features, self.additions)


def steps_two_and_three(search: Search, features: Features, additions: frozenset[Addition]) -> Moves:
    """Go on from the incumbent with features that are known: platform capability, operator capacity, give-back."""
    ratios = task_ratios(search.topology, features, search.parameters.slice)
    proposals = SlotProposals(
        search,
        features,
        balance=Addition.BALANCE in additions,
        left=MOST if Addition.SLOT_PROGRAMME in additions else 0,
    )
    yield from proposals.tried()
    if late_is_far_ahead(search):
        yield from throttle(search)
    if search.incumbent.trial.action is Action.START:
        yield from ratio_start(search, ratios)
    if not _settled(search, additions, proposals):
        yield from platform_capability(search, ratios)
        yield from proposals.tried()
    if not _settled(search, additions, proposals):
        yield from operator_capacity(search, additions, proposals)
        yield from proposals.tried()
    if Addition.GIVE_BACK in additions:
        yield from give_back(search)
    yield from throttle(search)


def _settled(search: Search, additions: frozenset[Addition], proposals: SlotProposals) -> bool:
    """Tell whether more tasks are in vain.

    The incumbent is bound by its latency, or by one key; or the cores and slots that are left promise too little.
    """
    if search.incumbent.configuration.offered_per_s is not None or search.is_held_by_a_key():
        return True
    if Addition.SATURATION not in additions:
        return False
    is_full = cpu_share(search.incumbent, search.context.cores) >= SATURATED
    return is_full or not proposals.is_worth_a_round(proposals.best_per_s)


def _today(search: Search) -> Moves:
    """Measure the job as it runs today, fused as written, where the user stated its tasks."""
    today = search.topology.today
    if today is None or sum(today.values()) > search.context.slots:
        return
    measured = yield from search.attempt(Trial(Configuration.of(today), Step.TODAY, Action.TODAY, fused=True))
    yield from search.decide(measured, "today's job, the yardstick of the gain", accepted=True)
