"""A gate's verdict on a terminal: every criterion with what was found and what could have been."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from profiler.job.configuration import Configuration
from profiler.questions.gate.answer import Against, DrillAnswer, GateAnswer
from profiler.questions.gate.criteria import WRITTEN, CriterionUnit
from profiler.questions.gate.words import LABELS
from profiler.report.verdict_terminal import print_verdict
from profiler.report.words import change

_STYLES = {"pass": "green", "saved": "green", "slower": "bold red", "inconclusive": "yellow"}
_MARKS = {"pass": "✓", "slower": "✗", "inconclusive": "?"}
_QUANTITIES = {"cpu": "CPU", "busy": "working time"}


def print_gate(console: Console, answer: GateAnswer) -> None:
    """Print the whole verdict."""
    lines = (*_criteria(answer), *_slower(answer), *_drill(answer), *_saved(answer))
    print_verdict(console, headline(answer), lines, answer, _STYLES[answer.verdict])


def headline(answer: GateAnswer) -> str:
    """Say who was compared with whom."""
    name, tasks = answer.baseline.name, Configuration.of(answer.tasks)
    against = {
        Against.ITSELF: "itself",
        Against.TOPOLOGY: name,
        Against.REVISION: f"revision {name}",
        Against.STORED: f"the stored blocks of {name}",
    }[answer.baseline.kind]
    blocks = f"{answer.blocks_of('baseline')} and {answer.blocks_of('candidate')} blocks"
    counts = f", {blocks}" if answer.blocks else ""
    title = "Gate" if answer.drill is None else "Gate, drilled"
    how = f" ({layout})" if counts and (layout := answer.environment.get("turns")) else ""
    return f"{title}: {answer.topology} on {answer.engine}, tasks {tasks}, against {against}{counts}{how}"


def figure(value: float | None, unit: CriterionUnit) -> str:
    """Write a value with its unit."""
    if value is None:
        return "unknown"
    return f"{value:,.0f} {WRITTEN.get(unit, unit)}" if abs(value) >= 1000 else f"{value:.3g} {WRITTEN.get(unit, unit)}"


def percentage(effect: float | None) -> str:
    """Write an effect; one that is not known may be any."""
    return "any" if effect is None else change(effect)


def interval_heading(answer: GateAnswer) -> str:
    """Name the intervals by their level: both ends hold with the confidence of the look."""
    return "interval" if answer.confidence is None else f"{2 * answer.confidence - 1:.0%} interval"


def _criteria(answer: GateAnswer) -> Iterator[Text]:
    """Lay the criteria out within 80 columns; the candidate's own figures follow from the change."""
    rows = [
        (
            LABELS[each.criterion],
            figure(each.baseline, each.unit),
            percentage(each.effect),
            f"{percentage(each.low).removesuffix('%')} to {percentage(each.high)}",
            f"{each.adjusted_p:.2g}",
            percentage(each.detectable_effect),
        )
        for each in answer.criteria
    ]
    if not rows:
        return
    headings = ("criterion", "baseline", "change", interval_heading(answer), "p", "detects")
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    yield Text(f"    {_aligned(headings, widths)}", "dim")
    for row, each in zip(rows, answer.criteria, strict=True):
        yield Text(f"  {_MARKS[each.verdict]} {_aligned(row, widths)}", _STYLES[each.verdict])


def _aligned(cells: tuple[str, ...], widths: list[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    return "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)])


def _slower(answer: GateAnswer) -> Iterator[Text]:
    """Name the operator that got slower, with what it adds."""
    all_us = sum(each.increase_us for each in answer.operators)
    for each in answer.operators:
        if each.name == answer.slower_operator:
            bounds = f"{percentage(each.low)} to {percentage(each.high)}"
            part = f"{each.increase_us:+.3g} µs per row, all operators {all_us:+.3g}"
            quantity = _QUANTITIES[each.quantity]
            yield Text(f"  slower: '{each.name}' {percentage(each.effect)} {quantity} ({bounds}), {part}")


def _saved(answer: GateAnswer) -> Iterator[Text]:
    if answer.saved_baseline is not None:
        yield Text(f"  kept as baseline '{answer.saved_baseline}'")


def _drill(answer: GateAnswer) -> Iterator[Text]:
    if answer.drill is not None:
        yield Text(f"  drill: {drill_in_words(answer.drill)}")


def drill_in_words(drill: DrillAnswer) -> str:
    """Say which operator was made slower on purpose, and what is expected of that."""
    share, longer = f"{drill.share:.0%} of the CPU per row", f"works {drill.part:.0%} longer"
    return f"'{drill.operator}' ({share}) {longer}: {drill.expected_effect:+.1%} expected"
