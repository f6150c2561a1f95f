"""The outcome of a statistical comparison; *inconclusive* is always one of the outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from profiler.statistics.doubt import Doubt

RELEVANT_EFFECT = 0.03
"""The smallest effect that matters to a search, where nobody says which."""


class Verdict(StrEnum):
    """What a comparison says of the candidate against its reference."""

    INCREASED = "increased"
    DECREASED = "decreased"
    UNCHANGED = "unchanged"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A candidate against its reference; effects are relative: 0.2 is 20 % more than the reference."""

    test: str
    """'welch' for a screening, 'blocks' for a confirmation."""
    verdict: Verdict
    effect: float
    low: float
    high: float
    p: float
    detectable_effect: float
    """Smallest relative effect this design finds with 80 % power."""
    n_reference: int
    n_candidate: int
    correlation: float = 0.0
    mann_whitney_p: float | None = None
    """Mann-Whitney's p, only where normality was rejected."""
    warnings: tuple[Doubt, ...] = ()
