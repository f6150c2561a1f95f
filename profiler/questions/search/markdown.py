"""A profile in Markdown, as a pull request or the summary of a CI step shows it."""

from __future__ import annotations

from collections.abc import Iterator

from profiler.questions.search.answer import Profile
from profiler.questions.search.paste import as_lines
from profiler.questions.search.rate_words import plan_in_words, rate_in_words
from profiler.report.words import change


def as_markdown(profile: Profile) -> str:
    """Write the answer, how sure it is, the rounds and the settings to paste."""
    heading = f"### profile: {profile.topology} on {profile.engine}"
    parts = [heading, _answer(profile), _rounds(profile), _settings(profile)]
    if profile.warnings:
        parts.append("\n".join(f"- {warning}" for warning in profile.warnings))
    return "\n\n".join(parts) + "\n\n"


def _answer(profile: Profile) -> str:
    best = profile.best
    tasks = ", ".join(f"{name} {count}" for name, count in best.tasks.items())
    speed = f"**{_headline(profile)}** with {best.slots} slots: {tasks}"
    late = " over a start that is later than the latency constraint allows" if profile.is_late else ""
    lines = [f"{speed} (gain {change(profile.gain)}{late}); {best.holds}.", *_evidence(profile)]
    return "\n".join([lines[0], "", *lines[1:]] if lines[1:] else lines)


def _headline(profile: Profile) -> str:
    """Give the rate that holds; the capacity where that was not looked for."""
    rate = profile.rate
    if rate is None or rate.holds_per_s is None:
        return f"{profile.best.throughput_per_s:,.0f} rows/s under stress"
    return f"{rate.holds_per_s:,.0f} rows/s"


def _evidence(profile: Profile) -> Iterator[str]:
    latency, confirmed = profile.best.latency_ms, profile.confirmed
    if profile.rate is not None:
        yield f"- holds: {rate_in_words(profile)}"
        if plan := plan_in_words(profile):
            yield f"- plan with {plan}"
    if latency is not None:
        yield f"- latency, read to sink: {latency.told()}"
    if profile.best.end_to_end_ms is not None:
        yield f"- latency, due to sink: {profile.best.end_to_end_ms.told()}"
    if confirmed is not None:
        yield (
            f"- confirmed: {confirmed.verdict} {change(confirmed.effect)} "
            f"({change(confirmed.low)} to {change(confirmed.high)}, p {confirmed.p:.2g})"
        )
    else:
        yield "- not confirmed"
    if not profile.complete:
        yield "- the time was up before the search ended"


def _rounds(profile: Profile) -> str:
    lines = ["| # | action | tasks | rows/s | change | p | decision |", "|--:|---|---|--:|--:|--:|---|"]
    for seen in profile.rounds:
        comparison = seen.comparison
        cells = [
            str(seen.number),
            seen.action,
            " ".join(str(count) for count in seen.tasks.values()),
            f"{seen.mean_per_s:,.0f}",
            "" if comparison is None else change(comparison.effect),
            "" if comparison is None else f"{comparison.p:.2g}",
            f"{seen.decision or 'open'}: {seen.why}",
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def _settings(profile: Profile) -> str:
    return "\n".join(["Settings to paste:", "```", *as_lines(profile.settings), "```"])
