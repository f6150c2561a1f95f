"""Give tasks back: fewer where an operator works far less than the busiest, at a bounded total loss.

The trimmed configuration is compared with the untrimmed best, measured twice as long as a search round. It is kept if
the estimated loss is within the limit, and not significant. Where the noise floor (half of the confidence interval)
is larger than the limit and the interval reaches below it, the comparison could not tell, so nothing is given back and
the round says so; where the rounds so far foretell that clearly, the round is saved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from profiler.experiment.rounds import Action, Round, Step
from profiler.job.configuration import Configuration
from profiler.questions.search.policies.incumbent import Moves, Search
from profiler.questions.search.policies.policy import Parameters
from profiler.questions.search.readings.evidence import screened
from profiler.questions.search.readings.loads import capacities
from profiler.statistics.result import Comparison, Verdict

SPARE = 0.8
"""Share of time that a trimmed operator may work, as part of what the busiest does."""
EFFORT = 2
HOPELESS = 5.0
"""Times the limit that the foreseen noise floor may have for the round to be tried."""


def give_back(search: Search) -> Moves:
    """Try one trimmed configuration against the best."""
    limit = search.parameters.give_back
    best = search.incumbent
    trimmed = _trimmed(search)
    if limit <= 0 or trimmed.slots >= best.configuration.slots or search.known(trimmed):
        return
    if foreseen_noise(best, search.rounds, search.parameters) > HOPELESS * limit:
        return
    trial = replace(search.trial(trimmed, Step.GIVE_BACK, Action.GIVE_BACK), effort=EFFORT)
    measured = yield from search.attempt(trial)
    comparison = search.compared(measured, best)
    accepted, why = _verdict(comparison, limit)
    if accepted and search.meets_latency(best) and not search.meets_latency(measured):
        accepted, why = False, f"the latency constraint of {search.parameters.latency_ms:g} ms is violated"
    saved = best.configuration.slots - trimmed.slots
    yield from search.decide(measured, f"{saved} fewer tasks: {why}", accepted=accepted)


def foreseen_noise(best: Round, rounds: Sequence[Round], parameters: Parameters) -> float:
    """Return the noise floor that a comparison with the best is going to have, by the noise of the rounds so far."""
    like_itself = screened(best.measurement, best.measurement, rounds, parameters)
    # Its windows against EFFORT times as many, instead of against as many.
    return (like_itself.high - like_itself.low) / 2 * math.sqrt((1 + 1 / EFFORT) / 2)


def _verdict(comparison: Comparison, limit: float) -> tuple[bool, str]:
    floor = (comparison.high - comparison.low) / 2
    if comparison.verdict is Verdict.DECREASED:
        return False, f"loses {-comparison.effect:.1%} (p {comparison.p:.2g})"
    if floor > limit and comparison.low < -limit:
        return False, f"the noise floor of ±{floor:.1%} hides a loss of {limit:.1%}: nothing given back"
    return comparison.effect >= -limit, f"changes the throughput by {comparison.effect:+.1%} (limit −{limit:.1%})"


def _trimmed(search: Search) -> Configuration:
    """Take tasks from every element until it works as much as SPARE of the busiest one does."""
    configuration = search.incumbent.configuration
    shares = capacities(search.incumbent)
    target = SPARE * max(shares.values(), default=0.0)
    if target <= 0:
        return configuration
    wanted = {
        name: min(count, math.ceil(count * shares[name] / target - 1e-9))
        for name, count in configuration.items
        if name in shares
    }
    return search.bounded(configuration, wanted)
