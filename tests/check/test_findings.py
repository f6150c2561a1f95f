"""Doubts about a topology are found and tell what to do; what is meant that way stays unmentioned."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profiler import Cost, Operator, Source, Topology
from profiler.engines.catalogue import Room
from profiler.errors import UsageError
from profiler.job.slots import smallest_configuration
from profiler.questions.check.findings import check, event_time_findings, findings


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
        ({**COMPLETE, "batches": "arrow", "schema": "x int", "stateful": True, "key": "x"}, "keeps no state"),
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


HERE = Room("local[6]", 6)


def two_counts(**second: object) -> Topology:
    """A second stateful operator right after another one: something must read between them."""
    first = Operator("a", function, stateful=True, key="k", cost=Cost(cpu_ms=1))
    return Topology.chain("counts", Source("s", payloads="tweets"), first, replace(first, name="b", **second))


def test_slots_are_counted_as_spark_runs_the_topology() -> None:
    """One per task, and one for the task that reads a topic for a stateful operator."""
    checked = check(two_counts(), bound=None, room=HERE)
    assert [len(query.stages) for query in checked.layout.queries] == [2, 2]
    assert (checked.fewest.slots, checked.slots_needed, checked.slots_available) == (3, 4, 6)
    assert checked.layout_today is None
    assert checked.findings == ()


def test_today_s_tasks_are_counted_too() -> None:
    checked = check(two_counts(tasks=4), bound=None, room=HERE)
    assert checked.layout_today.slots == 7
    (finding,) = checked.findings
    assert "today's job needs 7 slots, but there are 6" in finding.message


def test_a_machine_that_is_too_small_is_a_doubt_with_a_way_out() -> None:
    (finding,) = check(two_counts(min_tasks=4), bound=None, room=HERE).findings
    assert finding.message == "7 slots are needed at the least, but local[6] has 6."
    assert "local[7]" in finding.hint
    assert check(two_counts(min_tasks=4), bound=None, room=Room("spark://there:7077", None)).findings == ()


def test_what_the_user_allows_bounds_what_there_is() -> None:
    assert check(two_counts(), bound=5, room=HERE).slots_available == 5
    assert check(two_counts(), bound=9, room=HERE).slots_available == 6


def test_a_topology_without_spark_code_has_no_queries() -> None:
    checked = check(job(cost=Cost(cpu_ms=1)), bound=None, room=HERE)
    assert checked.layout is None
    assert (checked.slots_needed, checked.slots_available) == (2, None)


def test_lost_event_times_are_known_only_where_somebody_looked() -> None:
    topology = two_counts()
    assert check(topology, bound=None, room=HERE).event_time_lost_at == ()
    columns = {"s": ["event_time"], "a": ["n"], "b": ["n"]}
    checked = check(topology, bound=None, room=HERE, columns=columns)
    assert checked.event_time_lost_at == ("a",)
    assert [finding.elements for finding in checked.findings] == [("a",)]


@pytest.mark.parametrize(
    ("payloads", "said"),
    [
        (None, "'s': no payloads are stated, so there is nothing to send."),
        ("gone.jsonl", "'s': the payloads 'gone.jsonl' are neither a file nor known data."),
    ],
)
def test_a_source_that_has_nothing_to_send_is_a_doubt(payloads: str | None, said: str) -> None:
    """`profile run` would refuse it; the simulated engine, where functions do not count, sends nothing."""
    topology = two_counts()
    (source,) = topology.sources
    silent = Topology("counts", [replace(source, payloads=payloads)], topology.operators)
    (finding,) = check(silent, bound=None, room=HERE).findings
    assert str(finding).startswith(said)
    simulated = Topology("counts", silent.sources, [replace(each, function=None) for each in silent.operators])
    assert not [each for each in check(simulated, bound=None, room=HERE).findings if "s" in each.elements]
