"""Where an answer holds: what bounds it and what that means elsewhere, in sentences."""

from __future__ import annotations

from profiler.experiment.rounds import Action, Round
from profiler.job.topology import Operator
from profiler.questions.search.bound import Bound, By, bound_of, key_bound
from profiler.questions.search.readings.features import application_features
from profiler.questions.search.readings.hot_key import counted_shares, further_gain, hot_shares, tasks_worth_having
from profiler.questions.search.result import SearchResult
from profiler.report.doubts import ADVICE
from profiler.report.words import counted
from profiler.statistics.doubt import Doubt

TOLD_FROM = 0.05
"""The share of the cores from which on it is told that other programs had it."""


def where_it_holds(profile: SearchResult) -> str:
    """Say in one sentence what bounds the answer and where it carries over."""
    bound = bound_of(profile)
    if bound.element is None:
        return _as_a_whole(profile, bound)
    name, busy = f"'{bound.element}'", f"{bound.busy_share:.0%} busy"
    if bound.by is By.HOT_KEY:
        return f"bound by a hot key of {name}: {_key_in_words(profile, bound.element)}"
    if bound.by is By.SOURCE:
        return f"bound by the source {name} ({busy}): a topic with more partitions may give more"
    if bound.by is By.WAITING:
        return f"bound by waiting in {name} ({busy}): holds wherever it answers as fast{_slots(profile)}"
    return f"bound by {name} ({busy}), with {_used(bound)} used: holds for machines of this speed{_slots(profile)}"


def _as_a_whole(profile: SearchResult, bound: Bound) -> str:
    if bound.by is By.GENERATOR:
        limited = Doubt.GENERATOR_LIMITED in profile.answer.measurement.doubts
        return f"not bound by the job: {ADVICE[Doubt.GENERATOR_LIMITED if limited else Doubt.NOT_SATURATED]}"
    if bound.by is By.LATENCY:
        limit = f"{profile.context.parameters.latency_ms:g} ms"
        return f"bound by the latency constraint of {limit}: the job does more, but later"
    if bound.by is By.CPU:
        others = f", {bound.others_share:.0%} by other programs" if bound.others_share >= TOLD_FROM else ""
        used = f"{bound.cores_share:.0%} used{others}"
        return f"bound by CPU on {counted(bound.cores, 'core')} ({used}): holds for machines of this speed"
    if bound.by is By.HAND_OVER:
        used = f"the busiest task {bound.busy_share:.0%} of its time, {_used(bound)}"
        return (
            f"bound by handing over, as nothing is in full use ({used}): fewer stages or longer batches may give more"
        )
    return "what bounds it was not observed"


def _used(bound: Bound) -> str:
    return f"{bound.cores_share:.0%} of {counted(bound.cores, 'core')}"


def hot_key_notes(profile: SearchResult) -> tuple[str, ...]:
    """Name every key that has so many rows that it bounds the tasks worth having.

    One that was not counted but betrayed by its tasks is named only where it is the limit already.
    """
    counted = counted_shares(profile.topology, profile.rounds)
    slots = profile.context.slots
    bounding = {name for name, share in counted.items() if tasks_worth_having(share) < slots}
    names = sorted(bounding.union(key_bound(profile)))
    return tuple(f"'{name}': {_key_in_words(profile, name)}" for name in names)


def all_notes(profile: SearchResult) -> tuple[str, ...]:
    """Say all that makes an answer doubtful as a whole."""
    return (*hot_key_notes(profile), *_unreached(profile), *_hidden_python(profile), *profile.notes)


def _unreached(profile: SearchResult) -> tuple[str, ...]:
    """Name the elements that no row reached in the first round, so that nothing is known of what they cost."""
    start = _start(profile)
    if start is None or not start.measurement.calm:
        return ()
    names = application_features(profile.topology, start.measurement).unreached
    if not names:
        return ()
    keeps, them = ("it keeps its", "it") if len(names) == 1 else ("they keep their", "them")
    listed = ", ".join(f"'{name}'" for name in names)
    return (f"no row reached {listed}: {keeps} fewest tasks; give the job data that reaches {them}",)


def _hidden_python(profile: SearchResult) -> tuple[str, ...]:
    """Name the operators that may wait in Python without anybody seeing it, by the round that kept them apart."""
    seen = (_start(profile) or profile.answer).measurement.operators
    listed = " or ".join(f"'{name}'" for name, each in seen.items() if each.hides_python)
    if not listed:
        return ()
    not_seen = f"Python runs inside {listed}, where it is not timed: what waits in it looks idle and gets too few tasks"
    return (f"{not_seen}; declare it as an operator with batches='arrow'",)


def _start(profile: SearchResult) -> Round | None:
    return next((measured for measured in profile.rounds if measured.trial.action is Action.START), None)


def _key_in_words(profile: SearchResult, name: str) -> str:
    share = hot_shares(profile.topology, profile.rounds)[name]
    tasks = profile.answer.configuration[name]
    element = profile.topology[name]
    column = f" of '{element.key}'" if isinstance(element, Operator) and element.key else ""
    key = _counted_key(profile, name)
    value = f"the value {key!r}{column}" if key is not None else f"one value{column}"
    worth = tasks_worth_having(share)
    more = f"more than {worth:.0f} task{'s' if worth > 1 else ''} are not worth having"
    if tasks >= worth:
        more = f"any number of further tasks would gain {further_gain(share, tasks):.0%} at the most"
    return f"{value} has about {share:.0%} of its rows, which one task must do alone; {more}: split the key"


def _counted_key(profile: SearchResult, name: str) -> str | None:
    start = _start(profile)
    seen = start.measurement.operators.get(name) if start is not None else None
    return None if seen is None else seen.hot_key


def _slots(profile: SearchResult) -> str:
    """Say that slots are what is missing, where the answer uses all."""
    used = profile.answer.configuration.slots >= profile.context.slots
    return f"; all {profile.context.slots} slots are used, more may give more" if used else ""
