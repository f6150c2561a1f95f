"""Which round of a search is its answer, and which one comes next to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from profiler.errors import ProfileError
from profiler.experiment.rounds import Action, Round, Step
from profiler.job.configuration import Configuration
from profiler.questions.search.policies.policy import SearchContext
from profiler.questions.search.readings.evidence import screened
from profiler.questions.search.result import SearchResult
from profiler.statistics.result import Verdict


def answer_of(rounds: Sequence[Round], context: SearchContext) -> tuple[Round, tuple[str, ...]]:
    """Return what the policy stands by, unless today's job is faster than all it tried and in time as well."""
    if not rounds:
        raise ProfileError("The policy measured nothing.")
    initial = rounds[0]
    decisions = [decision for measured in rounds if (decision := measured.decision) is not None]
    answer = rounds[(decisions[-1].incumbent if decisions else 1) - 1]
    constraint = context.parameters.constraint
    may_stay = initial.meets(constraint) or not answer.meets(constraint)
    if initial.trial.step is Step.TODAY and answer is not initial and may_stay:
        against_today = screened(initial.measurement, answer.measurement, rounds, context.parameters)
        if against_today.verdict is Verdict.DECREASED:
            return initial, ("today's job as written is faster than every configuration tried: keep it",)
    return answer, ()


def today_left_out(initial: Round, context: SearchContext) -> tuple[str, ...]:
    """Say that the gain is over the start, where today's job would have been its yardstick and has no room."""
    today = context.topology.today
    if today is None or initial.trial.action is not Action.START or sum(today.values()) <= context.slots:
        return ()
    room = f"today's job has {sum(today.values())} tasks and there are {context.slots} slots for them"
    return (f"{room}: it was not measured, and the gain is over one task each",)


def unless_in_vain(profile: SearchResult) -> SearchResult:
    """Return the profile with the initial configuration for an answer that needs more slots and is not seen to gain."""
    found, answer, initial = profile.against_initial, profile.answer, profile.initial
    if found is None or found.verdict is Verdict.INCREASED:
        return profile
    is_worth_it = found.effect > 0 and found.verdict is not Verdict.UNCHANGED
    if is_worth_it or not profile.keeps_latency(initial) or initial.configuration.slots > answer.configuration.slots:
        return profile
    note = (
        f"in interleaved blocks {answer.configuration} was not faster than {initial.configuration} "
        f"({found.effect:+.1%}, {found.low:+.1%} to {found.high:+.1%}): that stays"
    )
    return replace(profile, answer=initial, confirmations=(), notes=(*profile.notes, note))


def runner_up_of(profile: SearchResult) -> Round | None:
    """Return the fastest other round that keeps the latency, if it is anywhere near the answer."""
    parameters = profile.context.parameters
    candidates = [
        measured
        for measured in profile.rounds
        if measured.configuration != profile.answer.configuration
        and measured.number != profile.initial.number
        and measured.meets(parameters.constraint)
        and measured.throughput_per_s > 0.9 * profile.answer.throughput_per_s
        and measured.configuration.offered_per_s is None
    ]
    return max(candidates, key=lambda measured: measured.throughput_per_s, default=None)


def deployed(measured: Round) -> tuple[Configuration, bool]:
    """Return what tells two rounds apart: one may be the other, measured again or offered less."""
    return Configuration.of(measured.configuration.tasks), measured.trial.fused
