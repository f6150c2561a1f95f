"""Where an answer holds: what bounds it, read off the round that gave it."""

from __future__ import annotations

from profiler.loop import Profile
from profiler.observation import hot_keys
from profiler.policies.capacity import busiest_first, capacities, cpu_share

CPU_BOUND = 0.85
WAITING = 0.5
"""Part of an operator's busy time that is CPU time, below which it is said to wait."""


def where_it_holds(profile: Profile) -> str:
    """Say in one sentence what bounds the answer and where it carries over."""
    measurement = profile.answer.measurement
    operators, cores = measurement.operators, profile.situation.cores
    if not operators or measurement.duration_s <= 0:
        return "what bounds it was not observed"
    used = cpu_share(profile.answer, cores)
    if used >= CPU_BOUND:
        return f"bound by CPU on {cores} cores ({used:.0%} used): holds for machines of this speed"
    hot = hot_keys(operators)
    if hot:
        name = max(hot, key=lambda key: hot[key])
        return f"bound by a hot key of '{name}' (its busiest task works {hot[name]:.1f} times the mean): not by tasks"
    shares = capacities(profile.answer)
    top = busiest_first(shares, shares)[0]
    if top in {source.name for source in profile.topology.sources}:
        return f"bound by the source '{top}' ({shares[top]:.0%} busy)"
    seen = operators[top]
    if seen.cpu_s < WAITING * seen.busy_s:
        return f"bound by waiting in '{top}' ({shares[top]:.0%} busy): holds wherever it answers as fast"
    return f"bound by '{top}' ({shares[top]:.0%} busy), with {used:.0%} of {cores} cores used"
