"""What `profile check` found as one value, which is what `profile check --json` writes.

Its keys are those of a job's elements and of Spark's queries; keys may be added, those that are here stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from profiler.engines.spark.layout.chains import QueryLayout
from profiler.job.topology import Cost, Element, Operator
from profiler.questions.check.findings import Checked, Finding

if TYPE_CHECKING:
    from profiler.traffic.payload_sample import PayloadSample  # which loads scipy: half a second that few checks need

SCHEMA = "profile-check/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementAnswer:
    """A source, or what an operator has in common with it."""

    name: str
    kind: str
    """The kind of the element: source or operator."""
    inputs: tuple[str, ...]
    tasks: int | None
    """Today's tasks, where they are stated."""
    min_tasks: int
    max_tasks: int | None
    parallel: bool
    cost: Cost | None
    columns: tuple[str, ...] | None
    """The columns of its rows; None where nobody looked, or Spark did not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedOperator(ElementAnswer):
    """An operator."""

    stateful: bool
    key: str | None
    output: str | None
    selectivity: float | None
    spark: bool
    """Whether it has a function, which Spark needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeAnswer:
    """Who hands rows to whom."""

    from_: str
    to: str
    topic: bool
    """Whether a Kafka topic lies between them, as they are in two queries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageAnswer:
    """What runs in the same tasks."""

    elements: tuple[str, ...]
    tasks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAnswer:
    """A query of Spark with its stages."""

    sources: tuple[str, ...]
    operators: tuple[str, ...]
    feeds: tuple[str, ...]
    """The queries that read what it writes, by name."""
    stages: tuple[StageAnswer, ...]
    slots: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotsAnswer:
    """The slots that are needed, and those that there are."""

    needed: int
    """The slots for one task each, and for what Spark needs besides."""
    today: int | None
    available: int | None
    """The slots that tasks may use; None where that is not known."""
    master: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckAnswer:
    """What is known of a job before anything is measured."""

    schema: str = SCHEMA
    topology: str
    elements: tuple[ElementAnswer, ...]
    edges: tuple[EdgeAnswer, ...]
    queries: tuple[QueryAnswer, ...] | None
    """The queries of the fewest tasks; None where Spark cannot run them."""
    slots: SlotsAnswer
    warnings: tuple[Finding, ...]
    payloads: Mapping[str, PayloadSample] | None
    """What is in the files that `--payloads` names, by source; None where it names none."""


def check_answer(checked: Checked, payloads: Mapping[str, PayloadSample] | None = None) -> CheckAnswer:
    """Return what was found."""
    topology, queries = checked.topology, checked.layout.queries if checked.layout else ()
    topics = {(query.chain.last, consumer) for query in queries for consumer in query.chain.consumers}
    return CheckAnswer(
        topology=topology.name,
        elements=tuple(_element(element, checked) for element in topology),
        edges=tuple(EdgeAnswer(from_=edge[0], to=edge[1], topic=edge in topics) for edge in topology.edges),
        queries=tuple(map(_query, queries)) if checked.layout else None,
        slots=SlotsAnswer(
            needed=checked.slots_needed,
            today=checked.layout_today.slots if checked.layout_today else None,
            available=checked.slots_available,
            master=checked.room.master,
        ),
        warnings=checked.findings,
        payloads=payloads or None,
    )


def _query(query: QueryLayout) -> QueryAnswer:
    return QueryAnswer(
        sources=query.chain.sources,
        operators=query.chain.operators,
        feeds=query.chain.consumers,
        stages=tuple(StageAnswer(elements=stage.elements, tasks=stage.tasks) for stage in query.stages),
        slots=query.slots,
    )


def _element(element: Element, checked: Checked) -> ElementAnswer:
    columns = () if checked.columns is None else checked.columns.get(element.name, ())
    shared: dict[str, Any] = {
        "name": element.name,
        "inputs": tuple(element.inputs),
        "tasks": element.tasks,
        "min_tasks": element.min_tasks,
        "max_tasks": element.max_tasks,
        "parallel": element.parallel,
        "cost": element.cost,
        "columns": tuple(columns) or None,
    }
    if not isinstance(element, Operator):
        return ElementAnswer(kind="source", **shared)
    return CheckedOperator(
        kind="operator",
        **shared,
        stateful=element.stateful,
        key=element.key,
        output=element.output,
        selectivity=element.selectivity,
        spark=element.function is not None,
    )
