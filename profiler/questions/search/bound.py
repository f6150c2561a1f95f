"""What bounds an answer, read off the round that gave it: a value first, so that programs need not read sentences.

The first that applies is named:

    generator    the rows that were offered were not enough although cores were left, so the job may do more
    latency      the answer is throttled to keep the latency constraint
    cpu          the cores are in use, by the job and by the broker and the generator beside it
    hand-over    every task is idle for much of its time: rows wait between stages, topics and batches
    hot key      the busiest task has one key's rows, which no other task can take
    source       the busiest element is a source
    waiting      the busiest operator waits for at least half of its busy time
    operator     the busiest operator works
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from profiler.experiment.observation import Detail, OperatorWindow
from profiler.experiment.rounds import Round
from profiler.questions.search.readings.hot_key import hot_shares, tasks_worth_having
from profiler.questions.search.readings.loads import busiest_first, capacities, cpu_share, part_left
from profiler.questions.search.readings.operator_class import DOMINANT
from profiler.questions.search.result import SearchResult
from profiler.report.published import Count
from profiler.statistics.doubt import Doubt

CPU_BOUND = 0.85
"""Share of the cores in use from which on they are the limit."""
BUSY = 0.6
"""Share of its time that the busiest task works or waits, below which no operator is the limit."""
NEARLY = 0.9
"""Part of the busiest element's share of time from which on another one is as busy."""


class By(StrEnum):
    """The kind of bound of an answer."""

    GENERATOR = "generator"
    LATENCY = "latency"
    CPU = "cpu"
    HAND_OVER = "hand-over"
    HOT_KEY = "hot-key"
    SOURCE = "source"
    WAITING = "waiting"
    OPERATOR = "operator"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What bounds an answer."""

    by: By
    cores: Count
    cores_share: float = 0.0
    """The share of all cores that are in use."""
    others_share: float = 0.0
    """The share of all cores that other programs had."""
    element: str | None
    """The source or operator that is the limit; None where it is not one of them."""
    busy_share: float = 0.0
    """The share of its time that the busiest task of the element is busy."""


def bound_of(profile: SearchResult) -> Bound:
    """Find what bounds the answer of a profile."""
    measurement, cores = profile.answer.measurement, profile.context.cores
    operators = measurement.operators
    if not operators or measurement.duration_s <= 0:
        return Bound(by=By.UNKNOWN, cores=cores, element=None)
    used, left, shares = cpu_share(profile.answer, cores), part_left(profile.answer), capacities(profile.answer)
    found = Bound(by=By.UNKNOWN, cores=cores, cores_share=used, others_share=1 - left, element=None)
    whole = _bound_as_a_whole(profile, used / left)
    if whole is not None:
        return replace(found, by=whole)
    top = busiest_first(shares, shares)[0]
    if shares[top] < BUSY:
        return replace(found, by=By.HAND_OVER, busy_share=shares[top])
    hot = [name for name in key_bound(profile) if shares[name] >= NEARLY * shares[top]]
    if hot:
        by, top = By.HOT_KEY, busiest_first(shares, hot)[0]
    elif top in {source.name for source in profile.topology.sources}:
        by = By.SOURCE
    else:
        by = By.WAITING if _waits(_seen_in_full(profile, top)) else By.OPERATOR
    return replace(found, by=by, element=top, busy_share=shares[top])


def _seen_in_full(profile: SearchResult, name: str) -> OperatorWindow:
    """Return an operator as the round saw it that looked at all of it: others take waiting for a core for its own."""
    rounds = [each for each in profile.rounds if each.trial.detail is Detail.FULL and not each.trial.fused]
    return (rounds[0] if rounds else profile.answer).measurement.operators[name]


def _bound_as_a_whole(profile: SearchResult, share_of_left: float) -> By | None:
    """Name a bound that is no element's, given the share in use of the cores that others left; None without one."""
    doubts, is_full = profile.answer.measurement.doubts, share_of_left >= CPU_BOUND
    # A generator that is late while the job uses all cores waits for them.
    if Doubt.NOT_SATURATED in doubts or (Doubt.GENERATOR_LIMITED in doubts and not is_full):
        return By.GENERATOR
    if profile.answer.configuration.offered_per_s is not None:
        return By.LATENCY
    return By.CPU if is_full else None


def key_bound(profile: SearchResult) -> tuple[str, ...]:
    """Return the operators of the answer that get no more tasks as one key has too many of their rows."""
    configuration = profile.answer.configuration
    shares = hot_shares(profile.topology, profile.rounds)
    return tuple(name for name, share in shares.items() if configuration[name] >= tasks_worth_having(share))


def is_bound_by_waiting(measured: Round, cores: int) -> bool:
    """Tell whether cores are free in a round while its busiest element mostly waits."""
    shares = capacities(measured)
    top = busiest_first(shares, shares)[0]
    return cpu_share(measured, cores) < CPU_BOUND * part_left(measured) and _waits(measured.measurement.operators[top])


def _waits(seen: OperatorWindow) -> bool:
    waiting_s = seen.busy_s - seen.cpu_s if seen.waiting_s is None else seen.waiting_s
    return waiting_s > DOMINANT * seen.busy_s
