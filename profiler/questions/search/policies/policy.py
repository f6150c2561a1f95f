"""What a policy is: a pure strategy that asks for trials and decides on rounds.

A policy is written as a generator: it yields a `Trial` and is sent the `Round` that came of it, then yields a
`Decision` on it. Nothing but rounds goes in, so a policy is a function of the history: `replayed` runs it over stored
rounds and gives the same trials and decisions, and `next_trial` is that function's value at its end.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from profiler.errors import ProfileError
from profiler.experiment.constraint import LatencyConstraint
from profiler.experiment.rounds import Decision, Round, Trial
from profiler.job.configuration import Configuration
from profiler.job.slots import smallest_configuration
from profiler.job.topology import Topology
from profiler.settings.declarations import DEFAULTS

PolicyPlan = Generator[Trial | Decision, Round | None, None]


@dataclass(frozen=True, slots=True)
class Parameters:
    """The knobs of the method, most of them settings; defaults are the paper's where it has one."""

    latency_ms: float = DEFAULTS.latency_ms
    latency_quantile: float = DEFAULTS.latency_quantile
    slice: float = DEFAULTS.slice
    """Unit of task load in which ratios are rounded."""
    stop_factor: float = DEFAULTS.stop_factor
    """k: step 3 ends when every operator's latency is within k times its minimum."""
    alpha: float = DEFAULTS.alpha
    """A throughput below alpha times the best sends step 2 back to the best and throttles."""
    significance: float = 0.05
    relevant_effect: float = DEFAULTS.relevant_effect
    give_back: float = DEFAULTS.give_back
    """Largest total loss accepted for fewer tasks; 0 gives nothing back."""

    @property
    def constraint(self) -> LatencyConstraint:
        """The latency that an answer has to keep."""
        return LatencyConstraint(self.latency_ms, self.latency_quantile)


@dataclass(frozen=True, slots=True)
class SearchContext:
    """All a policy may know besides the history."""

    topology: Topology
    slots: int
    cores: int
    """Cores over all nodes."""
    nodes: int = 1
    parameters: Parameters = Parameters()

    def smallest(self) -> Configuration:
        """Return the configuration with as few tasks as allowed; raise where even that does not fit the slots."""
        return smallest_configuration(self.topology, self.slots)


class Policy(Protocol):
    """A strategy that finds a configuration; called by the loop, one round at a time."""

    name: str

    def plan(self, context: SearchContext) -> PolicyPlan:
        """Yield trials and decisions; see the module's text."""


def replayed(policy: Policy, context: SearchContext, history: Sequence[Round]) -> Iterator[Trial | Decision]:
    """Run the policy over measured rounds; yields all its moves, the one after the history's end last."""
    plan = policy.plan(context)
    rounds = iter(history)
    move = next(plan, None)
    while move is not None:
        yield move
        answer: Round | None = None
        if isinstance(move, Trial):
            answer = next(rounds, None)
            if answer is None:
                return
            require_asked_for(answer, move)
        try:
            move = plan.send(answer)
        except StopIteration:
            return


def require_asked_for(past: Round, trial: Trial) -> None:
    """Raise where a stored round is not what the policy asks for at this point."""
    if past.configuration != trial.configuration:
        raise ProfileError(
            f"Round {past.number} measured {past.configuration}, the policy asks for {trial.configuration}.",
            hint="The history comes from another policy, topology or version: start a new run.",
        )


def next_trial(policy: Policy, context: SearchContext, history: Sequence[Round]) -> Trial | None:
    """Return what the policy wants measured after this history; None where it is done."""
    last = None
    for move in replayed(policy, context, history):
        last = move
    return last if isinstance(last, Trial) else None
