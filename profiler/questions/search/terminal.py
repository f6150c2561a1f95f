"""The final answer on a terminal: configuration, throughput with its interval, latency, gain, rounds, settings."""

from __future__ import annotations

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from profiler.experiment.observation import Latency
from profiler.questions.search.answer import Profile, ProfileBest, ProfileRound
from profiler.questions.search.disturbances import disturbance_in_words
from profiler.questions.search.operators import classes_in_words, state_in_words
from profiler.questions.search.paste import as_lines
from profiler.questions.search.rate_words import plan_in_words, rate_in_words
from profiler.report.doubts import advised
from profiler.report.rounds_table import RoundsTable
from profiler.report.row_table import WideRow
from profiler.report.words import counted
from profiler.statistics.result import Comparison, Verdict


def print_profile(console: Console, profile: Profile, *, is_kept: bool = True) -> None:
    """Print the whole answer; its run is named where it was kept."""
    kept = f", run {profile.run}" if is_kept else ""
    head = Text(
        f"Answer: {profile.topology} on {profile.engine}, {counted(len(profile.rounds), 'round')}{kept}", "bold"
    )
    console.print(
        Group(
            head,
            Padding(_configuration(profile), (0, 0, 0, 2)),
            Padding(_figures(profile), (0, 0, 0, 2)),
            Text("Rounds", "bold"),
            Padding(RoundsTable(profile.records), (0, 0, 0, 2)),
            Text("Settings to paste", "bold"),
        ),
        highlight=False,
    )
    for line in as_lines(profile.settings):
        console.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)  # a broken line could not be pasted
    for doubt in _doubts(profile):
        console.print(doubt, highlight=False)


def _configuration(profile: Profile) -> WideRow:
    best = profile.best
    given = None if profile.fingerprint is None else profile.fingerprint.slots
    slots = str(best.slots) if given is None else f"{best.slots} of {given}"
    tasks = [(name, Text(str(count), "bold green")) for name, count in best.tasks.items()]
    return WideRow([*tasks, ("slots", Text(slots))])


def _figures(profile: Profile) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column()
    best = profile.best
    if profile.rate is not None:
        style = "bold green" if profile.rate.holds_per_s is not None else "red"
        table.add_row("holds", Text(rate_in_words(profile), style))
        if profile.rate.planned_per_s is not None:
            table.add_row("plan with", plan_in_words(profile))
    table.add_row("capacity", f"{best.throughput_per_s:,.0f} rows/s under stress{_interval(best)}")
    if best.latency_ms is not None:
        table.add_row("latency", _latency(best.latency_ms, profile.answer))
    if best.end_to_end_ms is not None:
        table.add_row("", f"{best.end_to_end_ms.told()} (due to sink)")
    if best.keeps_latency is False:
        table.add_row("", Text(f"violates the constraint of {profile.parameters.latency_ms:g} ms", "red"))
    if best.offered_per_s is not None:
        table.add_row("throttled", f"to {best.offered_per_s:,.0f} rows/s in its round: it can do more, but later")
    table.add_row("gain", _gain(profile))
    said_of_all = (
        ("bound", best.holds.removeprefix("bound ")),
        ("operators", classes_in_words(profile)),
        ("state", state_in_words(profile)),
    )
    for label, said in said_of_all:
        if said:
            table.add_row(label, said)
    return table


def _interval(best: ProfileBest) -> str:
    if best.throughput_interval_per_s is None:
        return ""
    low, high = best.throughput_interval_per_s
    return f" (95 % interval {low:,.0f} to {high:,.0f})"


def _latency(latency: Latency, answer: ProfileRound | None) -> str:
    at_per_s = None if answer is None or answer.record is None else answer.record.measurement.latency_at_per_s
    return f"{latency.told()} (read to sink, at {at_per_s or 0:,.0f} rows/s)"


def _gain(profile: Profile) -> RenderableType:
    against = "today's job" if profile.is_over_today else "one task each"
    before = f"{profile.initial.throughput_per_s:,.0f} rows/s"
    confirmed = profile.confirmed
    if profile.is_as_before:
        return f"none: {against} is the best that was found"
    if profile.only_offers_less:
        return f"none: {against} keeps the latency constraint at this rate; at {before} it does not"
    late = ", later than the latency constraint allows" if profile.is_late else ""
    seen = f"{profile.gain:+.1%} over {against} ({before}{late})"
    if confirmed is None:
        return Text(f"{seen}, not confirmed")
    style = "green" if confirmed.verdict is Verdict.INCREASED else "yellow"
    return Text(f"{seen}; confirmed: {confirmation_in_words(confirmed)}", style)


def confirmation_in_words(comparison: Comparison) -> str:
    """Say what a confirmation found, with its interval and what it could have found."""
    return (
        f"{comparison.verdict} {comparison.effect:+.1%} ({comparison.low:+.1%} to {comparison.high:+.1%}, "
        f"p {comparison.p:.2g}, detectable {comparison.detectable_effect:.1%})"
    )


def _doubts(profile: Profile) -> list[RenderableType]:
    found: dict[str, list[int]] = {}
    for each in profile.rounds:
        for doubt in dict.fromkeys(each.warnings):
            found.setdefault(doubt, []).append(each.number)
    lines = [f"round {', '.join(map(str, numbers))}: {advised(doubt)}" for doubt, numbers in found.items()]
    lines += [
        f"round {each.number}: {disturbance_in_words(each.disturbance)}" for each in profile.rounds if each.disturbance
    ]
    lines += profile.warnings_besides(None if profile.best.bound is None else profile.best.bound.element)
    if not profile.complete:
        lines.append("the time budget ended the search: the answer is the best so far. Give it more with --budget")
    return [Text(f"warning: {line}", "yellow") for line in lines]
