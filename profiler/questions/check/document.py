"""What `profile check` found, as JSON."""

from __future__ import annotations

from typing import Any

from profiler.engines.spark.layout.chains import QueryLayout
from profiler.job.topology import Element, Source
from profiler.questions.check.findings import Checked


def check_document(checked: Checked) -> dict[str, Any]:
    """Tell what was found as one document."""
    topology, queries = checked.topology, checked.layout.queries if checked.layout else ()
    topics = {(query.chain.last, consumer) for query in queries for consumer in query.chain.consumers}
    return {
        "schema": "profile-check/1",
        "topology": topology.name,
        "elements": [_element(element, checked) for element in topology],
        "edges": [
            {"from": before, "to": after, "topic": (before, after) in topics} for before, after in topology.edges
        ],
        "queries": [_query(query) for query in queries] if checked.layout else None,
        "slots": {
            "needed": checked.slots_needed,
            "today": checked.layout_today.slots if checked.layout_today else None,
            "available": checked.slots_available,
            "master": checked.room.master,
        },
        "warnings": [
            {"elements": list(finding.elements), "message": finding.message, "hint": finding.hint}
            for finding in checked.findings
        ],
    }


def _query(query: QueryLayout) -> dict[str, Any]:
    return {
        "sources": list(query.chain.sources),
        "operators": list(query.chain.operators),
        "feeds": list(query.chain.consumers),
        "stages": [{"elements": list(stage.elements), "tasks": stage.tasks} for stage in query.stages],
        "slots": query.slots,
    }


def _element(element: Element, checked: Checked) -> dict[str, Any]:
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
        "columns": None if checked.columns is None else list(checked.columns.get(element.name, ())) or None,
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
