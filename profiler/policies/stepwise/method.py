"""The stepwise method as a policy: the steps in their order, each in a file of its own."""

from __future__ import annotations

from profiler.configuration import Configuration
from profiler.policies.capacity import cpu_share
from profiler.policies.features import application_features
from profiler.policies.policy import Plan, Situation
from profiler.policies.proposals import slot_proposals
from profiler.policies.search import Moves, Search
from profiler.policies.start import one_task_each
from profiler.policies.stepwise.additions import ALL, Addition
from profiler.policies.stepwise.give_back import give_back
from profiler.policies.stepwise.operator_capacity import operator_capacity
from profiler.policies.stepwise.platform_capability import platform_capability, ratio_start, throttle
from profiler.policies.stepwise.ratios import task_ratios
from profiler.rounds import Action, Step, Trial

SATURATED = 0.96
"""Share of the cores in use from which on further tasks are not tried: what they could still gain is not worth it."""


class Stepwise:
    """Application features, platform capability, operator capacity, and the additions."""

    name = "stepwise"

    def __init__(self, additions: frozenset[Addition] = ALL) -> None:
        self.additions = additions

    def plan(self, situation: Situation) -> Plan:
        """Yield the trials of all steps and a decision on each."""
        search = Search(situation)
        yield from _today(search)
        yield from one_task_each(search)
        start = search.rounds[-1]
        features = application_features(situation.topology, start.measurement)
        ratios = task_ratios(situation.topology, features, situation.parameters.slice)
        if Addition.SLOT_PROGRAMME in self.additions:
            yield from slot_proposals(search, features, balance=Addition.BALANCE in self.additions)
        if search.incumbent is start:
            yield from ratio_start(search, ratios)
        if not self._saturated(search):
            yield from platform_capability(search, ratios)
        if not self._saturated(search):
            yield from operator_capacity(search, self.additions)
        if Addition.GIVE_BACK in self.additions:
            yield from give_back(search)
        yield from throttle(search)

    def _saturated(self, search: Search) -> bool:
        """Tell whether the incumbent uses all cores: no number of tasks can raise its throughput then."""
        return (
            Addition.SATURATION in self.additions and cpu_share(search.incumbent, search.situation.cores) >= SATURATED
        )


def _today(search: Search) -> Moves:
    """Measure the job as it runs today, fused as written, where the user stated its tasks."""
    today = search.topology.today
    if today is None or sum(today.values()) > search.situation.slots:
        return
    outcome = yield from search.attempt(Trial(Configuration.of(today), Step.TODAY, Action.TODAY, fused=True))
    yield from search.decide(outcome, "today's job, the yardstick of the gain", accepted=True)
