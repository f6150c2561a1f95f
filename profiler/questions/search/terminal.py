"""The final answer on a terminal: configuration, throughput with its interval, latency, gain, rounds, settings."""

from __future__ import annotations

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from profiler.experiment.rounds import Round, Step
from profiler.questions.search.bound import bound_of
from profiler.questions.search.loop import SearchResult
from profiler.questions.search.operators import classes_in_words, state_in_words
from profiler.questions.search.paste import as_lines, paste_settings
from profiler.questions.search.uncertainty import throughput_interval
from profiler.questions.search.validity import all_notes, where_it_holds
from profiler.questions.search.verification import holds_with_less, in_words
from profiler.report.doubts import ADVICE
from profiler.report.words import change
from profiler.statistics.doubt import Doubt
from profiler.statistics.result import Comparison, Verdict


def print_profile(
    console: Console, profile: SearchResult, *, run: str | None, engine: str, title: str = "Answer"
) -> None:
    """Print the whole answer; `run` is None where it was not kept."""
    kept = "" if run is None else f", run {run}"
    head = Text(f"{title}: {profile.topology.name} on {engine}, {len(profile.rounds)} rounds{kept}", "bold")
    console.print(
        Group(
            head,
            Padding(_configuration(profile), (0, 0, 0, 2)),
            Padding(_figures(profile), (0, 0, 0, 2)),
            Text("Rounds", "bold"),
            Padding(rounds_table(profile.rounds), (0, 0, 0, 2)),
            Text("Settings to paste", "bold"),
        ),
        highlight=False,
    )
    for line in as_lines(paste_settings(profile, engine)):
        console.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)  # a broken line could not be pasted
    for doubt in _doubts(profile):
        console.print(doubt, highlight=False)


def rounds_table(rounds: tuple[Round, ...] | list[Round]) -> Table:
    """Lay out the rounds with what was tried, what was found and what was decided."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading, justify in (("#", "right"), ("action", "left"), ("tasks", "left"), ("rows/s", "right")):
        table.add_column(heading, justify="right" if justify == "right" else "left", no_wrap=heading != "tasks")
    table.add_column("against", justify="right", no_wrap=True)
    table.add_column("decision")
    for outcome in rounds:
        table.add_row(
            str(outcome.number),
            str(outcome.trial.action),
            str(outcome.configuration),
            f"{outcome.throughput_per_s:,.0f}",
            _against(outcome),
            _decision(outcome),
        )
    return table


def _configuration(profile: SearchResult) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in profile.answer.configuration:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("slots", justify="right", style="bold")
    table.add_row(
        *(Text(str(count), "bold green") for _, count in profile.answer.configuration.items),
        f"{profile.answer.configuration.slots} of {profile.context.slots}",
    )
    return table


def _figures(profile: SearchResult) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column()
    answer = profile.answer
    low, high = throughput_interval(profile)
    table.add_row("throughput", f"{answer.throughput_per_s:,.0f} rows/s (95 % interval {low:,.0f} to {high:,.0f})")
    latency = answer.measurement.latency_ms
    if latency is not None:
        table.add_row(
            "latency",
            f"mean {latency.mean:,.0f} ms, p50 {latency.p50:,.0f}, p95 {latency.p95:,.0f}, p99 {latency.p99:,.0f} "
            f"(read to sink, at {answer.measurement.latency_at_per_s or 0:,.0f} rows/s)",
        )
    if not profile.keeps_latency(answer):
        table.add_row("", Text(f"violates the constraint of {profile.context.parameters.latency_ms:g} ms", "red"))
    if answer.configuration.offered_per_s is not None:
        table.add_row("throttled", f"offer at most {answer.configuration.offered_per_s:,.0f} rows/s")
    table.add_row("gain", _gain(profile))
    table.add_row("holds", where_it_holds(profile))
    for label, said in (("operators", classes_in_words(profile)), ("state", state_in_words(profile))):
        if said:
            table.add_row(label, said)
    if profile.verification is None:
        table.add_row("production", "not verified with production's batches")
    else:
        style = "green" if profile.verification.passed else "yellow" if holds_with_less(profile.verification) else "red"
        table.add_row("production", Text(in_words(profile.verification), style))
    return table


def _gain(profile: SearchResult) -> RenderableType:
    against = "today's job" if profile.initial.trial.step is Step.TODAY else "one task each"
    before = f"{profile.initial.throughput_per_s:,.0f} rows/s"
    confirmed = profile.against_initial
    if profile.answer is profile.initial:
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


def _against(outcome: Round) -> str:
    if outcome.comparison is None:
        return "—"
    return f"#{outcome.trial.against} {change(outcome.comparison.effect)}"


def _decision(outcome: Round) -> Text:
    decision = outcome.decision
    if decision is None:
        return Text("…", "dim")
    mark, style = ("✓", "green") if decision.accepted else ("✗", "dim")
    return Text(f"{mark} {decision.why}", style)


def _doubts(profile: SearchResult) -> list[RenderableType]:
    found: dict[Doubt, list[int]] = {}
    for outcome in profile.rounds:
        warnings = outcome.comparison.warnings if outcome.comparison else ()
        for doubt in dict.fromkeys((*outcome.measurement.doubts, *warnings)):
            found.setdefault(doubt, []).append(outcome.number)
    lines = [f"round {', '.join(map(str, numbers))}: {doubt}. {ADVICE[doubt]}" for doubt, numbers in found.items()]
    lines += all_notes(profile, told=bound_of(profile).element)
    if not profile.complete:
        lines.append("the time budget ended the search: the answer is the best so far. Give it more with --budget")
    return [Text(f"warning: {line}", "yellow") for line in lines]
