"""Baseline: Stela (Xu, Peng, Gupta 2016): scale the operator with the highest expected throughput percentage.

An operator is congested when it works more than 90 % of its time. Its ETP is the share of the sinks' output that
passes it and is not held back by another congested operator downstream of it. Each round up to one addition per node
goes to the highest ETP, projecting rates after each (an operator with one task more is that much less busy);
nothing is revoked. Ends when nothing is congested, nothing may grow, or no slot is left.
"""

from __future__ import annotations

from collections.abc import Mapping

from profiler.experiment.rounds import Action, Step
from profiler.job.configuration import Configuration
from profiler.job.topology import Topology
from profiler.questions.search.policies.incumbent import Search
from profiler.questions.search.policies.policy import Policy, PolicyPlan, SearchContext
from profiler.questions.search.policies.stepwise.start import one_task_each
from profiler.questions.search.readings.features import Features, application_features
from profiler.questions.search.readings.loads import capacities

CONGESTED = 0.9
ADDITIONS = 2
"""Additions per round: Stela's own runs add one per machine; cores stand for machines, bounded to keep steps small."""


class Stela:
    """Scale by expected throughput percentage."""

    name = "stela"

    def plan(self, context: SearchContext) -> PolicyPlan:
        """Yield rounds of additions."""
        search = Search(context)
        yield from one_task_each(search)
        features = application_features(context.topology, search.rounds[0].measurement)
        while True:
            current = search.rounds[-1]
            grown = _grown(search, current.configuration, capacities(current), features)
            if grown == current.configuration:
                return
            measured = yield from search.attempt(search.trial(grown, Step.SEARCH, Action.ENHANCE))
            yield from search.keep_fastest(measured)


def expected_throughput_percentage(
    topology: Topology, name: str, congested: set[str], output_share: Mapping[str, float]
) -> float:
    """Return the share of the output that reaches sinks from this operator without meeting another congested one."""
    after = topology.successors(name)
    if not after:
        return output_share.get(name, 0.0)
    return sum(
        expected_throughput_percentage(topology, follower, congested, output_share)
        for follower in after
        if follower not in congested
    )


def _grown(
    search: Search, configuration: Configuration, shares: Mapping[str, float], features: Features
) -> Configuration:
    projected = dict(shares)
    output_share = _output_shares(search.topology, features)
    for _ in range(ADDITIONS):
        congested = {name for name, share in projected.items() if share > CONGESTED}
        open_names = [
            name for name in sorted(congested) if search.clamp(name, configuration[name] + 1) > configuration[name]
        ]
        if not open_names:
            break
        best = max(
            open_names,
            key=lambda name: expected_throughput_percentage(search.topology, name, congested - {name}, output_share),
        )
        more = configuration.plus({best: 1})
        if not search.fits(more):
            break
        projected[best] *= configuration[best] / more[best]
        configuration = more
    return configuration


def _output_shares(topology: Topology, features: Features) -> dict[str, float]:
    """Return each sink's share of the rows that leave the topology."""
    rows: dict[str, float] = {}
    for operator in topology.operators:
        if not topology.successors(operator.name):
            received = sum(features.relative_sizes[(before, operator.name)] for before in operator.inputs)
            rows[operator.name] = received * features.elements[operator.name].selectivity
    total = sum(rows.values()) or 1.0
    return {name: count / total for name, count in rows.items()}


POLICY: type[Policy] = Stela
