"""Step 2, platform capability: scale sources and sinks in turn under a stress stream.

After each round the throughput is compared with the previous round's:

    increased          latency violated → sinks + R, else source + 1
    not changed        after sinks → source + 1, after source → sinks + R
    decreased          below alpha · best → back to the best; else as 'not changed'

The search ends when the next configuration does not fit the slots, after 3·n·slots / ‖R‖₁ rounds, and (a choice, else
it would walk to the slot limit for nothing) after two changes in a row that both fail to raise the throughput.
Throttling belongs to the end of the step: at stress the latency says how full the buffers are, so the constraint is
checked by probes: at 90 % of the throughput, and lower where that is too much. Only a configuration that is late at
90 % has to be throttled. (A slower one that need not be is no reason not to: throttled, the fastest may still do more.)
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from profiler.experiment.rounds import Action, Round, Step
from profiler.job.configuration import Configuration
from profiler.questions.search.policies.incumbent import Moves, Search, in_words
from profiler.questions.search.policies.stepwise.ratios import Ratios
from profiler.statistics.result import Verdict

FRUITLESS = 2
"""Changes in a row without a rise that end the step."""
THROTTLES = 3
"""Rounds that are throttled at the most, one below the other, until one keeps the latency constraint."""
LESS = 0.85
"""Part of a throttled rate that is offered next, where it did not keep the constraint over a whole round."""
FAR_AHEAD = 2.0
"""Times the incumbent's throughput that a throttled round must promise to be tried before other tasks are."""


def platform_capability(search: Search, ratios: Ratios) -> Moves:
    """Walk from the incumbent until neither source nor sinks raise the throughput."""
    current, action = search.incumbent, Action.SINKS if _latency_violated(search, search.incumbent) else Action.SOURCE
    fruitless = 0
    for _ in range(_most_rounds(search, ratios)):
        step = next(_possible(search, ratios, current.configuration, action), None)
        if step is None:
            return
        action, configuration = step
        # The round is held against the incumbent, which it may replace; the walk goes on by the round before it.
        before = current
        current = yield from search.attempt(
            search.trial(configuration, Step.PLATFORM, action, predicted_per_s=before.throughput_per_s)
        )
        accepted, why = search.beats_incumbent(current)
        verdict = search.compared(current, before).verdict
        yield from search.decide(current, why, accepted=accepted)
        if verdict is Verdict.INCREASED:
            fruitless = 0
            action = Action.SINKS if _latency_violated(search, current) else Action.SOURCE
            continue
        fruitless += 1
        collapsed = current.throughput_per_s < search.parameters.alpha * search.incumbent.throughput_per_s
        if fruitless == FRUITLESS or (verdict is Verdict.DECREASED and collapsed):
            return
        action = Action.SOURCE if action is Action.SINKS else Action.SINKS


def late_is_far_ahead(search: Search) -> bool:
    """Tell whether a round that violates the latency constraint would still be far ahead if it were throttled."""
    late = _late(search)
    return late is not None and _kept(search, late) >= FAR_AHEAD * _kept(search, search.incumbent)


def throttle(search: Search) -> Moves:
    """Offer less to the tasks that are late at 90 % of their throughput, but keep the latency at the highest rate.

    The probes of their round told that rate. Where a configuration that need not be throttled keeps the latency at as
    much, there is nothing to do.
    """
    late = _late(search)
    if late is None:
        return
    rate_per_s = _kept(search, late)
    for _ in range(THROTTLES):
        # Today's job may keep it too: it is the answer where nothing is faster.
        known = [search.incumbent, *(past for past in search.rounds if past.trial.fused)]
        least = max((_kept(search, past) for past in known if search.meets_latency(past)), default=0.0)
        limited = late.configuration.throttled(rate_per_s)
        if rate_per_s <= (1 + search.parameters.relevant_effect) * least or search.known(limited):
            return
        measured = yield from search.attempt(search.trial(limited, Step.PLATFORM, Action.THROTTLE))
        met = search.meets_latency(measured)
        limit = f"{search.parameters.latency_ms:g} ms"
        why = f"offered {rate_per_s:,.0f} rows/s, the latency constraint of {limit} is {'met' if met else 'violated'}"
        yield from search.decide(measured, why, accepted=met)
        if met:
            return
        rate_per_s *= LESS


def _late(search: Search) -> Round | None:
    """Return the round that is late unless throttled, and then keeps the latency at the highest rate.

    The job as written is none that could be offered less.
    """
    late = [
        past
        for past in search.rounds
        if past.configuration.offered_per_s is None and not past.trial.fused and not search.meets_latency(past)
    ]
    return max(late, key=lambda past: _kept(search, past), default=None)


def _kept(search: Search, measured: Round) -> float:
    return measured.kept_per_s(search.parameters.constraint)


def ratio_start(search: Search, ratios: Ratios) -> Moves:
    """Try the paper's start of step 2: sources at one task, operators at their ratios."""
    configuration = search.bounded(search.context.smallest(), ratios.tasks)
    if search.known(configuration) or not search.fits(configuration):
        return
    measured = yield from search.attempt(search.trial(configuration, Step.PLATFORM, Action.SINKS))
    comparison = search.compared(measured, search.incumbent)
    # As good a start of the walk as any, unless it is slower.
    accepted = comparison.verdict is Verdict.INCREASED or comparison.effect >= 0
    yield from search.decide(measured, f"the ratios' start: {in_words(comparison)}", accepted=accepted)


def _possible(
    search: Search, ratios: Ratios, configuration: Configuration, preferred: Action
) -> Iterator[tuple[Action, Configuration]]:
    """Yield the preferred change, then the other one, as far as they fit, change anything and are new."""
    other = Action.SINKS if preferred is Action.SOURCE else Action.SOURCE
    for action in (preferred, other):
        changed = _changed(search, ratios, configuration, action)
        if changed != configuration and search.fits(changed) and not search.known(changed):
            yield action, changed


def _changed(search: Search, ratios: Ratios, configuration: Configuration, action: Action) -> Configuration:
    if action is Action.SOURCE:
        more = {source.name: configuration[source.name] + 1 for source in search.topology.sources}
    else:
        more = {name: configuration[name] + ratio for name, ratio in ratios.scalable.items()}
    return search.bounded(configuration, more)


def _latency_violated(search: Search, measured: Round) -> bool:
    return measured.measurement.latency_ms is not None and not search.meets_latency(measured)


def _most_rounds(search: Search, ratios: Ratios) -> int:
    per_change = max(1, sum(ratios.scalable.values()))
    return math.ceil(3 * len(search.topology.elements) * search.context.slots / per_change)
