"""`profile check TOPOLOGY`: draw the DAG, count the slots, tell what is missing; start no broker and no query."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from profiler.cli.flags import with_settings
from profiler.settings import Settings

if TYPE_CHECKING:
    from profiler.checking import Finding
    from profiler.topology import Element, Topology


@with_settings("slots", "debug")
def check(
    topology: Annotated[
        str, typer.Argument(metavar="TOPOLOGY", help="A workload's name, module:attribute or file.py:attribute.")
    ],
    *,
    spark: Annotated[
        bool, typer.Option("--spark/--no-spark", help="Look at the operators' columns in a local Spark session.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a drawing.")] = False,
    settings: Settings,
) -> int:
    """Check a topology: draw its DAG, count the slots it needs, tell what is missing."""
    from profiler.checking import findings
    from profiler.loading import load_topology
    from profiler.slots import smallest_configuration

    loaded = load_topology(topology)
    needed = smallest_configuration(loaded, settings.slots).slots
    found = [*findings(loaded, settings.slots), *(_event_time(loaded) if spark else ())]
    if as_json:
        typer.echo(json.dumps(_document(loaded, needed, settings.slots, found), indent=2, ensure_ascii=False))
    else:
        _print(loaded, needed, settings.slots, found)
    return 0


def _event_time(topology: Topology) -> tuple[Finding, ...]:
    """Look at the columns; a topology without Spark code needs no session for that."""
    if all(operator.function is None for operator in topology.operators):
        return ()
    from profiler.checking import event_time_findings
    from profiler.cli.console import error_console
    from profiler.columns import operator_columns

    error_console().print("Looking at the operators' columns in a local Spark session (--no-spark skips it) …")
    return event_time_findings(topology, operator_columns(topology))


def _print(topology: Topology, needed: int, slots: int | None, found: list[Finding]) -> None:
    from profiler.cli.console import result_console
    from profiler.report.drawing import draw

    console = result_console()
    counts = f"{_counted(topology.sources, 'source')}, {_counted(topology.operators, 'operator')}"
    console.print(f"{topology.name}: {counts}\n", style="bold")
    columns = {element.name: (element.name, _cost(element)) for element in topology}
    widths = [max(len(row[column]) for row in columns.values()) for column in range(2)]
    for line in draw(topology):
        row = columns.get(line.element, ("", ""))
        cells = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        traits = _traits(topology[line.element]) if line.element else ""
        console.print(f"  {line.picture}  {cells}  {traits}".rstrip())
    available = "" if slots is None else f", {slots} available"
    console.print(f"\nSlots: {needed} needed at the least, one per task{available}.")
    for finding in found:
        console.print(f"warning: {finding}", style="yellow")


def _counted(elements: tuple[Element, ...], noun: str) -> str:
    return f"{len(elements)} {noun}{'s' if len(elements) != 1 else ''}"


def _cost(element: Element) -> str:
    cost = element.cost
    if cost is None:
        return "no cost"
    parts = {"CPU": cost.cpu_ms, "wait": cost.wait_ms}
    return " + ".join(f"{value:g} ms {name}" for name, value in parts.items() if value)


def _traits(element: Element) -> str:
    from profiler.topology import Source

    traits = []
    if isinstance(element, Source):
        traits.append("source")
    else:
        if element.stateful:
            traits.append(f"stateful by {element.key}" if element.key else "stateful")
        if element.output is not None:
            traits.append(f"{element.output} output")
        if element.selectivity is not None:
            traits.append(f"{element.selectivity:g} rows out per row")
        if len(element.inputs) > 1:
            traits.append(f"joins {', '.join(element.inputs)}")
    return ", ".join([*traits, *_bounds(element)])


def _bounds(element: Element) -> list[str]:
    """Say what is stated of an element's tasks; nothing where the search is free."""
    bounds = []
    if not element.parallel:
        bounds.append("not parallel")
    elif element.max_tasks is not None:
        bounds.append(f"{element.min_tasks} to {element.max_tasks} tasks")
    elif element.min_tasks > 1:
        bounds.append(f"at least {element.min_tasks} tasks")
    if element.tasks is not None:
        bounds.append(f"{element.tasks} today")
    return bounds


def _document(topology: Topology, needed: int, slots: int | None, found: list[Finding]) -> dict[str, Any]:
    return {
        "schema": "profile-check/1",
        "topology": topology.name,
        "elements": [_element(element) for element in topology],
        "edges": [{"from": before, "to": after} for before, after in topology.edges],
        "slots": {"needed": needed, "available": slots},
        "warnings": [
            {"elements": list(finding.elements), "message": finding.message, "hint": finding.hint} for finding in found
        ],
    }


def _element(element: Element) -> dict[str, Any]:
    from profiler.topology import Source

    cost = element.cost
    document: dict[str, Any] = {
        "name": element.name,
        "kind": "source" if isinstance(element, Source) else "operator",
        "inputs": list(element.inputs),
        "tasks": element.tasks,
        "min_tasks": element.min_tasks,
        "max_tasks": element.max_tasks,
        "parallel": element.parallel,
        "cost": None if cost is None else {"cpu_ms": cost.cpu_ms, "wait_ms": cost.wait_ms, "memory_mb": cost.memory_mb},
    }
    if not isinstance(element, Source):
        document |= {
            "stateful": element.stateful,
            "key": element.key,
            "output": element.output,
            "selectivity": element.selectivity,
            "spark": element.function is not None,
        }
    return document
