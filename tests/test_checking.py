"""Doubts about a topology are found and tell what to do; what is meant that way stays unmentioned."""

from __future__ import annotations

import pytest

from profiler import Cost, Operator, Source, Topology
from profiler.checking import event_time_findings, findings
from profiler.errors import UsageError
from profiler.slots import smallest_configuration


def function(rows: object) -> object:
    return rows


def job(**stated: object) -> Topology:
    return Topology.chain("job", Source("s"), Operator("o", **stated))  # type: ignore[arg-type]


COMPLETE = {"function": function, "cost": Cost(cpu_ms=1)}


def test_nothing_is_said_of_a_complete_operator() -> None:
    assert findings(job(**COMPLETE, stateful=True, key="k", tasks=2), slots=3) == ()


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({}, "neither a function nor a Cost"),
        ({"cost": Cost(cpu_ms=1)}, "no function"),
        ({"function": function}, "no Cost"),
        ({**COMPLETE, "stateful": True}, "stateful without a key"),
        ({**COMPLETE, "key": "k"}, "a key is stated"),
        ({**COMPLETE, "batches": "arrow"}, "without a schema"),
    ],
)
def test_a_doubt_names_its_operator(stated: dict[str, object], message: str) -> None:
    [finding] = findings(job(**stated), slots=None)
    assert finding.elements == ("o",)
    assert message in finding.message
    assert finding.hint


def test_todays_job_needs_its_slots() -> None:
    [finding] = findings(job(**COMPLETE, tasks=4), slots=4)
    assert finding.message == "today's job needs 5 slots, but there are 4."


def test_event_time_is_missed_only_where_it_is_lost() -> None:
    topology = Topology.chain("job", Source("s"), Operator("a"), Operator("b"), Operator("c"))
    columns = {"s": ["event_time", "value"], "a": ["event_time"], "b": ["value"], "c": ["value"]}
    [finding] = event_time_findings(topology, columns)
    assert finding.elements == ("b",)
    assert '.select("event_time", …)' in finding.hint


def test_an_aggregation_is_told_how_to_keep_event_time() -> None:
    topology = Topology.chain("job", Source("s"), Operator("a", stateful=True, key="k"))
    [finding] = event_time_findings(topology, {"s": ["event_time"], "a": ["n"]})
    assert 'F.last("event_time")' in finding.hint


def test_operators_that_spark_cannot_run_are_not_doubted() -> None:
    topology = Topology.chain("job", Source("s"), Operator("a"), Operator("b"))
    assert event_time_findings(topology, {"s": ["event_time"]}) == ()


def test_the_smallest_configuration_has_the_fewest_tasks_allowed() -> None:
    assert smallest_configuration(job(min_tasks=3), slots=None).tasks == {"s": 1, "o": 3}
    assert smallest_configuration(job(min_tasks=3), slots=4).slots == 4


def test_too_few_slots_are_refused_with_the_number_needed() -> None:
    with pytest.raises(UsageError, match=r"Topology 'job' needs at least 4 slots, one per task, but there are 3\."):
        smallest_configuration(job(min_tasks=3), slots=3)
