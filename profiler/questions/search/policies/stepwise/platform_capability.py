"""Step 2, platform capability: scale sources and sinks in turn under a stress stream.

After each round the throughput is compared with the previous round's:

    increased          latency violated → sinks + R, else source + 1
    not changed        after sinks → source + 1, after source → sinks + R
    decreased          below alpha · best → back to the best; else as 'not changed'

The search ends when the next configuration does not fit the slots, after 3·n·slots / ‖R‖₁ rounds, and (a choice, else
it would walk to the slot limit for nothing) after two changes in a row that both fail to raise the throughput.
Throttling belongs to the end of the step: at stress the latency says how full the buffers are, so the constraint is
checked by a probe at 90 % of the throughput, and only a fastest configuration that fails it has to be throttled. (A
slower one that keeps it is no reason not to: throttled, the fastest may still do more.)
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
THROTTLES = (0.8, 0.6, 0.4, 0.25, 0.1)
"""Parts of the best throughput, of which the largest that keeps the latency constraint is looked for."""
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


def fastest_is_far_ahead(search: Search) -> bool:
    """Tell whether the fastest round violates the latency constraint, and would still be far ahead if throttled."""
    fastest = _fastest(search)
    return not search.meets_latency(fastest) and (
        THROTTLES[0] * fastest.throughput_per_s >= FAR_AHEAD * search.incumbent.throughput_per_s
    )


def throttle(search: Search) -> Moves:
    """Find the most that the fastest configuration can be offered within the latency constraint, by halving.

    Nothing to do where the fastest keeps it; and where a slower configuration keeps it unthrottled, only rates above
    what that one does are worth a round. One after the other instead of by halving, a search spends more rounds on
    rates that do not keep it (scripts/benches/results/quality.md).
    """
    fastest = _fastest(search)
    if search.meets_latency(fastest) or fastest.trial.fused:
        return
    parts = _parts_worth_offering(search, fastest)
    while parts:
        middle = (len(parts) - 1) // 2
        part = parts[middle]
        limited = fastest.configuration.throttled(part * fastest.throughput_per_s)
        measured = yield from search.attempt(search.trial(limited, Step.PLATFORM, Action.THROTTLE))
        met = search.meets_latency(measured)
        limit = f"{search.parameters.latency_ms:g} ms"
        why = f"at {part:.0%} of the throughput the latency constraint of {limit} is {'met' if met else 'violated'}"
        yield from search.decide(measured, why, accepted=met)
        parts = parts[:middle] if met else parts[middle + 1 :]


def _parts_worth_offering(search: Search, fastest: Round) -> tuple[float, ...]:
    """Return the parts above what keeps the latency already and below what these tasks did not keep it at."""
    # Today's job may keep it too: it is the answer where nothing is faster.
    known = [search.incumbent, *(past for past in search.rounds if past.trial.fused)]
    kept = max((past.throughput_per_s for past in known if search.meets_latency(past)), default=0.0)
    violated = min(
        (
            past.configuration.offered_per_s
            for past in search.rounds
            if past.configuration.offered_per_s is not None
            and past.configuration.tasks == fastest.configuration.tasks
            and not search.meets_latency(past)
        ),
        default=math.inf,
    )
    least = (1 + search.parameters.relevant_effect) * kept
    return tuple(part for part in THROTTLES if least < part * fastest.throughput_per_s < violated)


def _fastest(search: Search) -> Round:
    """Return the fastest round of tasks that may be throttled; the job as written only where there is nothing else."""
    with_own_tasks = [measured for measured in search.rounds if not measured.trial.fused]
    return max(with_own_tasks or search.rounds, key=lambda measured: measured.throughput_per_s)


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
