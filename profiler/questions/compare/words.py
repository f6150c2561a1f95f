"""What a comparison says, in sentences."""

from __future__ import annotations

from profiler.questions.compare.experiment import CompareResult
from profiler.questions.compare.ranking import Pair, RankVerdict, Terms
from profiler.report.words import change


def why(outcome: CompareResult, terms: Terms) -> str:
    """Say in one sentence who is the fastest, and by how much."""
    ranking = outcome.ranking
    names = [variant.name for variant in outcome.variants]
    leaders = [names[arm] for arm in ranking.leaders]
    if ranking.verdict is RankVerdict.FASTER:
        first, second = ranking.order[:2]
        pair = ranking.pair(first, second)
        return f"{leaders[0]}, {change(pair.effect)} rows/s over {names[second]} ({_evidence(pair)})"
    if ranking.verdict is RankVerdict.TIE:
        return f"{_listed(leaders)} tie: they differ by less than {terms.margin:.0%}"
    at_the_top = [pair for pair in ranking.pairs if {pair.first, pair.second} <= {*ranking.leaders}]
    widest = max((pair for pair in at_the_top if not pair.settled), key=lambda pair: pair.detectable_effect)
    between = f"{names[widest.first]} {change(widest.effect)} against {names[widest.second]} ({_evidence(widest)})"
    detects = f"a difference of {change(widest.detectable_effect).lstrip('+')} would have been found"
    return f"{_listed(leaders)} can't be told apart: {between}; {detects}; more --blocks or a quieter machine may"


def _evidence(pair: Pair) -> str:
    level = f"{100 * pair.confidence:.3g}% interval"
    return f"{level} {change(pair.low)} to {change(pair.high)}, p {pair.adjusted_p:.2g}"


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
