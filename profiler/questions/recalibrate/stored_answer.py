"""Is the answer of a stored profile as good as it was? One round tells, or two where the first one is in doubt.

The round is screened against the stored one, with the noise of all rounds of both profiles. Slower means significantly
less throughput, or a latency constraint that is violated and was not. A round that looks slower, or is too noisy to
tell, is measured once more for twice as long, and the second one is judged by itself: one bad moment of a shared
machine is no reason to search again, and the stored answer was chosen for a good one. Judged together, both rounds
would call more unchanged answers slower (scripts/benches/results/recalibrate.md). Every verdict says what it could have
seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from profiler.experiment.rounds import Round
from profiler.questions.search.policies.incumbent import LIKELY_EFFECT, LIKELY_P, in_words
from profiler.questions.search.policies.policy import Parameters
from profiler.questions.search.readings.evidence import screened
from profiler.questions.search.stored_profile import StoredRounds
from profiler.statistics.result import Comparison, Verdict

BLUNT = 0.5
"""The detectable effect from which on a comparison confirms nothing."""


class Standing(StrEnum):
    """The standing of a stored answer."""

    AS_GOOD = "as good as stored"
    SLOWER = "slower than stored"
    UNCLEAR = "too noisy to tell"


@dataclass(frozen=True, slots=True)
class Look:
    """A look at the stored answer through a round; the effect is the round's."""

    standing: Standing
    comparison: Comparison
    why: str

    @property
    def in_doubt(self) -> bool:
        """Tell whether a second round is worth its time."""
        return self.standing is not Standing.AS_GOOD


def look_at(stored: StoredRounds, again: Round, history: Sequence[Round], parameters: Parameters) -> Look:
    """Judge a round that measured the stored answer again; `history` are all rounds of the present search."""
    comparison = screened(stored.answer.measurement, again.measurement, [*stored.rounds, *history], parameters)
    constraint = parameters.constraint
    violated = stored.answer.meets(constraint) and not again.meets(constraint)
    probably_slower = comparison.effect < -LIKELY_EFFECT and comparison.p < LIKELY_P
    if comparison.verdict is Verdict.INCONCLUSIVE or comparison.detectable_effect >= BLUNT:
        standing, why = Standing.UNCLEAR, in_words(comparison)
    elif violated:
        standing, why = Standing.SLOWER, f"the latency constraint of {parameters.latency_ms:g} ms is violated"
    elif comparison.verdict is Verdict.DECREASED:
        standing, why = Standing.SLOWER, in_words(comparison)
    elif probably_slower:
        standing, why = Standing.UNCLEAR, in_words(comparison)
    else:
        standing, why = Standing.AS_GOOD, in_words(comparison)
    return Look(standing, comparison, f"{standing}: {why}")
