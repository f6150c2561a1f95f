"""The rate that an answer holds, in words: for the terminal, Markdown, and whoever else tells of a profile."""

from __future__ import annotations

from profiler.questions.search.answer import Profile
from profiler.questions.search.holding import Basis
from profiler.questions.search.verification import Verification, latency_in_words, trouble_in_words
from profiler.report.words import lasting

NOT_LOOKED_FOR = "not looked for"
TOLD_FROM = 0.02
"""The change of the machine's speed from which on it is told: the rate that was offered is another one then."""


def rate_in_words(profile: Profile) -> str:
    """Say in one sentence which rate holds, or why none does and what would give one."""
    rate, verified = profile.rate, profile.verified
    if rate is None:
        return NOT_LOOKED_FOR
    way_out = "allow more latency (--latency), or give it more slots"
    if rate.basis is Basis.PROBE or verified is None or rate.batch_s is None:
        if rate.holds_per_s is None:
            return f"none: no rate that was probed kept the latency constraint; {way_out}"
        return f"{rate.holds_per_s:,.0f} rows/s kept the latency in a few short windows; run it longer to rely on it"
    batches = f"in batches of {lasting(rate.batch_s)}"
    if rate.holds_per_s is None:
        return f"none {batches}: {trouble_in_words(verified)} even at {verified.rate_per_s:,.0f} rows/s; {way_out}"
    above = "" if rate.fails_at_per_s is None else f"; {rate.fails_at_per_s:,.0f} rows/s do not hold"
    seen = f"{latency_in_words(verified)}, the queue does not grow{_of_the_machine(verified)}"
    return f"{rate.holds_per_s:,.0f} rows/s {batches}: {seen}{above}"


def _of_the_machine(verified: Verification) -> str:
    """Say what was offered, where the machine was not as fast as usual meanwhile."""
    change = verified.machine_speed - 1
    if abs(change) < TOLD_FROM:
        return ""
    how = "faster" if change > 0 else "slower"
    return f" (seen at {verified.rate_per_s:,.0f}, as the machine was {abs(change):.0%} {how} than before)"


def plan_in_words(profile: Profile) -> str:
    """Say which rate to plan with; empty where none holds."""
    rate = profile.rate
    if rate is None or rate.planned_per_s is None:
        return ""
    return f"{rate.planned_per_s:,.0f} rows/s, which leaves {rate.headroom:.0%} for peaks and restarts (--headroom)"
