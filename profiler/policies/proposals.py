"""The slot programme's trials: from the features first, then from the loads that were measured under load."""

from __future__ import annotations

import math

from profiler.policies.capacity import cpu_per_source_row, loads_per_source_row
from profiler.policies.features import Features
from profiler.policies.search import Moves, Search
from profiler.policies.slot_programme import Proposal, element_bounds, propose
from profiler.rounds import Action, Round, Step

MOST = 3
"""Proposals at the most: the second and third use loads measured at the one before."""


def slot_proposals(search: Search, features: Features, *, most: int = MOST) -> Moves:
    """Try what the slot programme proposes until it repeats itself or was revoked twice."""
    source = search.rounds[-1]
    loads = {name: feature.busy_s_per_source_row for name, feature in features.elements.items()}
    cpu_s = sum(feature.cpu_s_per_source_row for feature in features.elements.values())
    for _ in range(most):
        proposal = _proposal(search, features, loads, cpu_s)
        configuration = search.bounded(source.configuration, proposal.tasks)
        if search.known(configuration) or not search.fits(configuration):
            return
        trial = search.trial(configuration, Step.PLATFORM, Action.SLOTS, predicted_per_s=proposal.predicted_per_s)
        source = yield from search.attempt(trial)
        yield from search.judge(source)
        loads, cpu_s = _under_load(source, loads, cpu_s)


def _under_load(outcome: Round, loads: dict[str, float], cpu_s: float) -> tuple[dict[str, float], float]:
    return loads_per_source_row(outcome) or loads, cpu_per_source_row(outcome) or cpu_s


def _proposal(search: Search, features: Features, loads: dict[str, float], cpu_s: float) -> Proposal:
    fixed = {
        name: search.clamp(name, math.ceil(features.elements[name].busy_s_per_s - 1e-9)) for name in features.dominated
    }
    scalable = {name: load for name, load in loads.items() if name not in fixed}
    return propose(
        scalable,
        cpu_s,
        bounds=element_bounds(search, scalable),
        fixed=fixed,
        slots=search.situation.slots,
        cores=search.situation.cores,
    )
