"""Step 3, operator capacity: one more task for the operator that works the most, kept if the throughput rises.

    capacity_i = busy seconds of its busiest task / seconds

Ends after two revocations in a row, when no slot is left, or when every operator's latency is within k of its minimum.
The last is read from utilisation: the sojourn time of a queue is service / (1 − u), so latency ≤ k · MinL means
u ≤ 1 − 1/k (a choice: the wait inside a queue is not observable from outside Spark).

Beyond the paper: operators that tie (within 7 % of the top) are raised together, as one alone cannot help; and when
the slots run out, the operators that work the least give up a task for those that work the most.
"""

from __future__ import annotations

from collections.abc import Mapping

from profiler.experiment.observation import hot_keys
from profiler.experiment.rounds import Action, Step
from profiler.job.configuration import Configuration
from profiler.questions.search.policies.incumbent import Moves, Search
from profiler.questions.search.policies.stepwise.additions import Addition
from profiler.questions.search.policies.stepwise.proposals import SlotProposals
from profiler.questions.search.readings.loads import busiest_first, capacities

REVOCATIONS = 2
TIE = 0.07


def operator_capacity(search: Search, additions: frozenset[Addition], proposals: SlotProposals) -> Moves:
    """Fine-tune single operators, starting from the incumbent; what can't gain what matters is not tried."""
    saves_rounds = Addition.SATURATION in additions
    settled: set[str] = set()
    revoked_in_a_row = 0
    while revoked_in_a_row < REVOCATIONS:
        shares = capacities(search.incumbent)
        settled |= hot_keys(search.incumbent.measurement.operators, search.topology.keyed).keys()
        raised = _to_raise(search, shares, settled, ties=Addition.TIES in additions)
        if not raised or max(shares.values()) <= 1 - 1 / search.parameters.stop_factor:
            return
        configuration, action = _enhanced(search, shares, raised, exchange=Addition.EXCHANGE in additions)
        if configuration is None or search.known(configuration):
            settled.update(raised)
            continue
        if saves_rounds and not proposals.is_worth_a_round(proposals.most_per_s(configuration)):
            settled.update(raised)
            continue
        measured = yield from search.attempt(search.trial(configuration, Step.CAPACITY, action))
        accepted, why = search.beats_incumbent(measured)
        yield from search.decide(measured, f"{', '.join(raised)} + 1: {why}", accepted=accepted)
        revoked_in_a_row = 0 if accepted else revoked_in_a_row + 1
        if not accepted:
            settled.update(raised)


def _to_raise(search: Search, shares: Mapping[str, float], settled: set[str], *, ties: bool) -> list[str]:
    """Return the busiest element that may still grow, and those that tie with it."""
    configuration = search.incumbent.configuration
    open_names = [
        name
        for name in configuration
        if name not in settled and search.clamp(name, configuration[name] + 1) > configuration[name]
    ]
    ordered = busiest_first(shares, open_names)
    if not ordered or not ties:
        return ordered[:1]
    top = shares[ordered[0]]
    return [name for name in ordered if shares[name] >= (1 - TIE) * top]


def _enhanced(
    search: Search, shares: Mapping[str, float], raised: list[str], *, exchange: bool
) -> tuple[Configuration | None, Action]:
    """Return the incumbent with one task more for each, taken from the least busy where slots run out."""
    grown = search.incumbent.configuration.plus(dict.fromkeys(raised, 1))
    if search.fits(grown):
        return grown, Action.ENHANCE
    if not exchange:
        return None, Action.ENHANCE
    while not search.fits(grown):
        donor = _donor(search, shares, raised, grown)
        if donor is None:
            return None, Action.EXCHANGE
        grown = grown.plus({donor: -1})
    return grown, Action.EXCHANGE


def _donor(search: Search, shares: Mapping[str, float], raised: list[str], grown: Configuration) -> str | None:
    """Return the element that stays least busy after giving up a task, if that is less busy than the raised ones."""
    busy = {name: shares[name] * search.incumbent.configuration[name] for name in grown}
    after = {
        name: busy[name] / (grown[name] - 1)
        for name in grown
        if name not in raised and grown[name] > 1 and search.clamp(name, grown[name] - 1) < grown[name]
    }
    donor = min(after, key=lambda name: (after[name], name), default=None)
    limit = min(shares[name] for name in raised)
    return donor if donor is not None and after[donor] < limit else None
