"""The state of one search: its rounds, the incumbent, and the two moves every step makes (try, decide)."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping

from profiler.errors import ProfileError
from profiler.experiment.rounds import Action, Decision, Round, Step, Trial
from profiler.job.configuration import Configuration
from profiler.questions.search.policies.policy import SearchContext
from profiler.questions.search.readings.evidence import screened
from profiler.questions.search.readings.hot_key import hot_shares, tasks_worth_having
from profiler.questions.search.readings.loads import busiest_first, capacities
from profiler.statistics.result import Comparison, Verdict

Moves = Generator[Trial | Decision, Round | None, None]
Tried = Generator[Trial | Decision, Round | None, Round]


LIKELY_EFFECT = 0.1
LIKELY_P = 0.3
"""Below this p a large effect is taken on trust where the noise hides it from the test: the search goes on from the
better place, which makes answers better (scripts/benches/results/quality.md), and what is claimed in the end is
confirmed."""
LITTLE = 2.0
"""The detectable effect from which on a comparison says next to nothing."""


ALL_THE_TIME = 0.9
"""Share of its time that a task works from which on it is taken to work all the time."""


class Search:
    """What the steps share while a plan runs; built anew for every replay."""

    def __init__(self, context: SearchContext) -> None:
        self.context = context
        self.parameters = context.parameters
        self.topology = context.topology
        self.rounds: list[Round] = []
        self._incumbent: Round | None = None
        self._most_tasks: dict[str, int] | None = None

    @property
    def incumbent(self) -> Round:
        """The best round so far that may be the answer."""
        if self._incumbent is None:
            raise ProfileError("A policy asked for its incumbent before the first round.")
        return self._incumbent

    def fits(self, configuration: Configuration) -> bool:
        """Tell whether the configuration fits the slots."""
        return configuration.slots <= self.context.slots

    def known(self, configuration: Configuration) -> bool:
        """Tell whether these tasks have been measured already (today's fused job does not count)."""
        return any(past.configuration == configuration and not past.trial.fused for past in self.rounds)

    def bounded(self, configuration: Configuration, wanted: Mapping[str, int]) -> Configuration:
        """Return the configuration with the wanted tasks, each within its element's bounds."""
        return configuration.with_tasks({name: self.clamp(name, count) for name, count in wanted.items()})

    def clamp(self, name: str, count: int) -> int:
        """Bring a task count within its element's bounds; they end where one key bounds it, as far as that is known."""
        element = self.topology[name]
        top = 1 if not element.parallel else element.max_tasks or self.context.slots
        return max(element.min_tasks, min(count, top, self._worth_having().get(name, top)))

    def _worth_having(self) -> dict[str, int]:
        """Return the most tasks of operators with a hot key, of those alone."""
        if self._most_tasks is None:
            worth = {name: tasks_worth_having(h) for name, h in hot_shares(self.topology, self.rounds).items()}
            self._most_tasks = {name: int(tasks) for name, tasks in worth.items() if math.isfinite(tasks)}
        return self._most_tasks

    def is_held_by_a_key(self) -> bool:
        """Tell whether the incumbent's busiest task works all the time for one key, so that no task can help it."""
        shares = capacities(self.incumbent)
        top = busiest_first(shares, shares)[0]
        most = self._worth_having().get(top)
        return most is not None and self.incumbent.configuration[top] >= most and shares[top] >= ALL_THE_TIME

    def attempt(self, trial: Trial) -> Tried:
        """Ask for a trial; return its round."""
        measured = yield trial
        if measured is None:
            raise ProfileError("The loop answered a trial with nothing.")
        self.rounds.append(measured)
        self._most_tasks = None
        return measured

    def decide(self, measured: Round, why: str, *, accepted: bool) -> Moves:
        """State what follows from a round; an accepted one becomes the incumbent."""
        if accepted:
            self._incumbent = measured
        yield Decision(accepted=accepted, why=why, incumbent=self.incumbent.number)

    def judge(self, measured: Round) -> Moves:
        """Accept the round if it beats the incumbent, else revoke it, with the reason in words."""
        accepted, why = self.beats_incumbent(measured)
        yield from self.decide(measured, why, accepted=accepted)

    def keep_fastest(self, measured: Round) -> Moves:
        """Accept the round if its mean is higher, without a test: the way of the baselines."""
        keeps, kept = self.meets_latency(measured), self.meets_latency(self.incumbent)
        faster = measured.throughput_per_s > self.incumbent.throughput_per_s
        # No figure of its own: the comparison beside it has the machine's speed taken out, and says another one.
        why = f"{'more' if faster else 'no more'} rows/s than #{self.incumbent.number}"
        if keeps != kept and _was_probed(measured):
            why = self._of_latency(keeps=keeps)
        yield from self.decide(measured, why, accepted=keeps if keeps != kept else faster)

    def beats_incumbent(self, measured: Round) -> tuple[bool, str]:
        """Tell whether a round should replace the incumbent: keeps the latency where that did not, or is faster."""
        comparison = self.compared(measured, self.incumbent)
        if not _was_probed(measured):
            return False, in_words(comparison)
        keeps, kept = self.meets_latency(measured), self.meets_latency(self.incumbent)
        if keeps != kept:
            return keeps, self._of_latency(keeps=keeps)
        if comparison.verdict is Verdict.UNCHANGED and comparison.effect > LIKELY_EFFECT and comparison.p < LIKELY_P:
            return True, f"probably faster: {comparison.effect:+.1%} (p {comparison.p:.2g}; {_detectable(comparison)})"
        return comparison.verdict is Verdict.INCREASED, in_words(comparison)

    def _of_latency(self, *, keeps: bool) -> str:
        limit = f"{self.parameters.latency_ms:g} ms"
        return f"latency constraint of {limit} {'met for the first time' if keeps else 'violated'}"

    def meets_latency(self, measured: Round) -> bool:
        """Tell whether the round's probe keeps the latency constraint."""
        return measured.meets(self.parameters.constraint)

    def compared(self, measured: Round, reference: Round) -> Comparison:
        """Compare two rounds; the loop's own comparison where it made this one."""
        if measured.comparison is not None and measured.trial.against == reference.number:
            return measured.comparison
        return screened(reference.measurement, measured.measurement, self.rounds, self.parameters)

    def trial(
        self, configuration: Configuration, step: Step, action: Action, *, predicted_per_s: float | None = None
    ) -> Trial:
        """Build a trial against the incumbent."""
        return Trial(
            configuration,
            step,
            action,
            against=self.incumbent.number,
            predicted_per_s=predicted_per_s or self.incumbent.throughput_per_s,
        )


def _was_probed(measured: Round) -> bool:
    """Tell whether its latency was looked at; that of a round far below its reference is not."""
    return measured.measurement.latency_ms is not None or measured.measurement.latency_unknown


def in_words(comparison: Comparison) -> str:
    """Say what a comparison found, with what it could have found."""
    match comparison.verdict:
        case Verdict.INCREASED | Verdict.DECREASED:
            by = f"{-comparison.effect:.1%}" if comparison.effect < 0 else f"{comparison.effect:+.1%}"
            return f"throughput {comparison.verdict} by {by} (p {comparison.p:.2g})"
        case Verdict.UNCHANGED:
            return f"no relevant change: {comparison.effect:+.1%} (p {comparison.p:.2g}; {_detectable(comparison)})"
    return f"inconclusive: {comparison.effect:+.1%} ({_detectable(comparison)})"


def _detectable(comparison: Comparison) -> str:
    effect = comparison.detectable_effect
    return f"detectable {effect:.1%}" if effect < LITTLE else "too noisy to tell"
