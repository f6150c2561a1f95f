"""Reading the stages of a query from the plan that Spark prints."""

from __future__ import annotations

import pytest

from profiler.engines.spark.layout.chains import Chain, QueryLayout, Stage
from profiler.engines.spark.layout.executed_plan import check_stages, hidden_python, stage_tasks
from profiler.errors import ProfileError
from profiler.job.topology import Operator

PLAN = """\
WriteToDataSourceV2 MicroBatchWrite[epoch: 0]
+- ProjectAggregationBuffer List(word#18), 3, [word#18]
   +- StatefulStreamlineAggregate List(word#18), 3, numPartitions = 3]
      +- Exchange hashpartitioning(word#18, lang#19, 3), REQUIRED_BY_STATEFUL_OPERATOR, isPipelined=true, [plan_id=79]
         +- ProjectAggregationBuffer 3, [word#18], [partial_count(1)]
            +- Exchange RoundRobinPartitioning(2), REPARTITION_BY_NUM, isPipelined=true, [plan_id=76]
               +- *(2) Generate explode(split(value#15,  , -1)), [event_time#16], false, [word#18]
                  +- Exchange SinglePartition, REPARTITION_BY_NUM, isPipelined=true, [plan_id=71]
                     +- *(1) Project [cast(value#8 as string) AS value#15]
                        +- RealTimeStreamScan[key#7, value#8] class KafkaScan [batchDurationMs=1500ms]
"""


def query(*tasks: int) -> QueryLayout:
    names = ("in", *(f"o{number}" for number in range(1, len(tasks))))
    stages = tuple(Stage((name,), count) for name, count in zip(names, tasks, strict=True))
    return QueryLayout(Chain(("in",), names[1:], ()), stages, 1, 0)


def test_every_exchange_starts_a_stage():
    """Listed from the source to the sink: one task, two, then three by key."""
    assert stage_tasks(PLAN) == (1, 2, 3)


def test_the_planned_stages_pass():
    """Nothing to say where Spark does as planned."""
    check_stages(query(4, 1, 2, 3), PLAN)


@pytest.mark.parametrize("tasks", [(4, 1, 2, 4), (4, 1, 3), (4, 1, 2, 3, 1)])
def test_other_stages_are_told(tasks):
    """Both lists are shown, and what usually causes it."""
    with pytest.raises(ProfileError, match="stages of 4/1/2/3 tasks instead of " + "/".join(map(str, tasks))) as told:
        check_stages(query(*tasks), PLAN)
    assert "stateful=True" in told.value.hint


def test_a_shuffle_that_waits_for_its_input_is_refused():
    """It would never deliver a row before the batch ends."""
    with pytest.raises(ProfileError, match="cannot run"):
        stage_tasks(PLAN.replace("isPipelined=true, [plan_id=76]", "isPipelined=false, [plan_id=76]"))


def with_node(node, *, at):
    """Return the plan with one more node in the stage after the source that has this number."""
    lines = PLAN.splitlines()
    exchanges = [number for number, line in enumerate(lines) if "Exchange" in line]
    place = exchanges[-at]
    return "\n".join([*lines[:place], f"      +- {node} answer(value#15)#30, [event_time#16]", *lines[place:]])


def operators(**more):
    """Return the operators of the plan, of which the third is stateful; one may be a function over batches."""
    return [Operator(name, stateful=name == "o3", **more.get(name, {})) for name in ("o1", "o2", "o3")]


@pytest.mark.parametrize(
    "node",
    [
        "BatchEvalPython",
        "ArrowEvalPython",
        "MapInPandas",
        "MapInArrow",
        "FlatMapGroupsInPandas",
        "FlatMapGroupsInPandasWithState",
        "TransformWithStateInPySpark",
        "*(2) BatchEvalPythonUDTF",
    ],
)
def test_python_that_no_operator_declares_is_found_in_its_stage(node):
    """A function of DataFrames may call it, and only those of that stage may be meant."""
    assert hidden_python(query(4, 1, 2, 3), with_node(node, at=1), operators()) == ("o1",)
    assert hidden_python(query(4, 1, 2, 3), with_node(node, at=3), operators()) == ("o3",)


def test_python_before_a_stateful_operator_may_be_its_key():
    """What it groups by is computed before the shuffle."""
    assert hidden_python(query(4, 1, 2, 3), with_node("ArrowEvalPython", at=2), operators()) == ("o2", "o3")


def test_python_that_is_declared_hides_nothing():
    """An operator over batches is one such node, and is timed; a second one in its stage is another's."""
    declared = operators(o2={"batches": "arrow"})
    assert hidden_python(query(4, 1, 2, 3), PLAN, operators()) == ()
    assert hidden_python(query(4, 1, 2, 3), with_node("MapInArrow", at=2), declared) == ()
    twice = with_node("MapInArrow", at=2).replace("MapInArrow", "MapInArrow\n+- ArrowEvalPython")
    assert hidden_python(query(4, 1, 2, 3), twice, declared) == ("o3",)


def test_a_column_that_is_called_like_python_is_none():
    """Only a node's own name counts."""
    named = PLAN.replace("AS value#15", "AS MapInPandas#15, 'BatchEvalPython' AS Python#16")
    assert hidden_python(query(4, 1, 2, 3), named, operators()) == ()
