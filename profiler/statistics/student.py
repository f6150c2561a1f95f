"""Student's t for a difference of logs: p, interval, equivalence and what the design could have detected.

Both designs end here: a screening brings a difference of two rounds, a confirmation a difference of two arms. What
they add up to a standard error are variance components, each with its own degrees of freedom, combined after Welch
and Satterthwaite: ν = (Σ v)² / Σ v²/ν_v.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import special

POWER = 0.8
"""The probability with which an effect that is called detectable is found."""
LOG_ROUNDING = 1e-9
"""Differences of logs below this are the rounding of floats: simulated runs without noise differ by as much."""
_MANY = 1e6
"""Degrees of freedom that make Student's t a normal distribution; the non-central t needs a finite number."""


@dataclass(frozen=True, slots=True)
class LogDifference:
    """A difference of mean logs, candidate minus reference, with its standard error and degrees of freedom."""

    difference: float
    standard_error: float
    degrees_of_freedom: float

    @property
    def p(self) -> float:
        """Two-sided p of no difference; without any noise a difference is certain."""
        if abs(self.difference) < LOG_ROUNDING:
            return 1.0
        if self.standard_error < LOG_ROUNDING:
            return 0.0
        return 2 * self._upper_tail(abs(self.difference))

    @property
    def increase_p(self) -> float:
        """One-sided p of no increase; without any noise an increase is certain."""
        if self.standard_error < LOG_ROUNDING:
            return 0.0 if self.difference > LOG_ROUNDING else 1.0
        return self._upper_tail(self.difference)

    def equivalence_p(self, margin: float) -> float:
        """Return the p of two one-sided tests against ± log(1 + margin): small means equivalent."""
        bound = math.log1p(margin)
        if self.standard_error < LOG_ROUNDING:
            return 0.0 if abs(self.difference) < bound else 1.0
        return self._upper_tail(bound - abs(self.difference))

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the confidence interval of the relative effect, exp(difference) − 1."""
        width = self._critical(alpha) * self.standard_error
        return relative(self.difference - width), relative(self.difference + width)

    def detectable_effect(self, alpha: float, relevant_effect: float = 0.0) -> float:
        """Return the smallest relative effect that this design calls with 80 % power.

        Two hurdles, the higher counts: the t-test (its power is a non-central t distribution, solved for its
        non-centrality), and the smallest relevant effect, which the estimate has to exceed.
        """
        freedom = min(self.degrees_of_freedom, _MANY)
        noncentrality = float(special.nctdtrinc(freedom, 1 - POWER, self._critical(alpha)))
        beyond_relevant = math.log1p(relevant_effect) + float(special.ndtri(POWER)) * self.standard_error
        return relative(max(noncentrality * self.standard_error, beyond_relevant if relevant_effect else 0.0))

    # scipy's distribution objects give the same and take fifty times as long.
    def _upper_tail(self, difference: float) -> float:
        return float(special.stdtr(self.degrees_of_freedom, -difference / self.standard_error))

    def _critical(self, alpha: float) -> float:
        return -float(special.stdtrit(self.degrees_of_freedom, alpha / 2))


def welch_satterthwaite(components: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Combine (variance, degrees of freedom) components into a standard error and its degrees of freedom."""
    total = sum(variance for variance, _ in components)
    spread = sum(variance**2 / freedom for variance, freedom in components)
    # Without any variance the degrees of freedom have no meaning; the sum is what they would be at most.
    freedom = total**2 / spread if spread > 0 else sum(freedom for _, freedom in components)
    return math.sqrt(total), freedom


def relative(log_difference: float) -> float:
    """Return exp(x) − 1, infinite where that is beyond a float."""
    try:
        return math.expm1(log_difference)
    except OverflowError:
        return math.inf
