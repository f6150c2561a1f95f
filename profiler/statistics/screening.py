"""Screening, the test of a search round: one look, Welch's t-test on the logs of two rounds' windows.

Changed means p < alpha (two-sided) *and* an effect of at least `relevant_effect`, in logs, so that a gain and the loss
that undoes it are judged alike; anything else is unchanged. There is no equivalence test here: a search only needs to
know whether to move. Windows of a run are correlated and rounds drift; both widen the standard error:

    SE² = Σ over the two rounds of  variance of the round's mean (correlation.py)  +  2 · between_round_sd²

With neither it is scipy's Welch test on logs. What to pass for them is estimated in search_noise.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from profiler.statistics.correlation import mean_variance
from profiler.statistics.doubt import Doubt
from profiler.statistics.normality import mann_whitney_where_not_normal
from profiler.statistics.result import RELEVANT_EFFECT, Comparison, Verdict
from profiler.statistics.student import LogDifference, relative, welch_satterthwaite


def screen(
    reference: Sequence[float],
    candidate: Sequence[float],
    *,
    correlation: float = 0.0,
    between_round_sd: float = 0.0,
    between_round_df: float = math.inf,
    alpha: float = 0.05,
    relevant_effect: float = RELEVANT_EFFECT,
) -> Comparison:
    """Compare the windows of two rounds.

    `between_round_sd` is the standard deviation of log throughput between two deployments of the same thing, known
    with `between_round_df` degrees of freedom. Inconclusive only where nothing can be tested: fewer than two windows,
    or a window without throughput.
    """
    if min(len(reference), len(candidate)) < 2 or min(*reference, *candidate) <= 0:
        return untestable("welch", len(reference), len(candidate))
    before, after = np.log(reference), np.log(candidate)
    components = [
        mean_variance(before, correlation),
        mean_variance(after, correlation),
        (2 * between_round_sd**2, between_round_df),
    ]
    found = LogDifference(float(after.mean() - before.mean()), *welch_satterthwaite(components))
    mann_whitney_p = mann_whitney_where_not_normal(before, after)
    low, high = found.interval(alpha)
    return Comparison(
        test="welch",
        verdict=direction(found, alpha, relevant_effect) or Verdict.UNCHANGED,
        effect=relative(found.difference),
        low=low,
        high=high,
        p=found.p,
        detectable_effect=found.detectable_effect(alpha, relevant_effect),
        n_reference=len(reference),
        n_candidate=len(candidate),
        correlation=correlation,
        mann_whitney_p=mann_whitney_p,
        warnings=() if mann_whitney_p is None else (Doubt.NOT_NORMAL,),
    )


def direction(found: LogDifference, alpha: float, relevant_effect: float) -> Verdict | None:
    """Return increased or decreased where the difference is significant and large enough to matter, else None."""
    if found.p >= alpha or abs(found.difference) < math.log1p(relevant_effect):
        return None
    return Verdict.INCREASED if found.difference > 0 else Verdict.DECREASED


def untestable(test: str, n_reference: int, n_candidate: int) -> Comparison:
    """Return the comparison of what cannot be compared: inconclusive, and any effect is possible."""
    return Comparison(
        test=test,
        verdict=Verdict.INCONCLUSIVE,
        effect=0.0,
        low=-1.0,
        high=math.inf,
        p=1.0,
        detectable_effect=math.inf,
        n_reference=n_reference,
        n_candidate=n_candidate,
        warnings=(Doubt.TOO_FEW_WINDOWS,),
    )
