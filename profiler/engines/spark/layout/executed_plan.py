"""What Spark made of a query: the stages it really has, and the Python that runs in them, read from the executed plan.

Optimiser rules may move an operator's work to another stage or join stages. The ones that are known to are switched off
where operators have stages of their own (`EXCLUDED_RULES`); what is left is found here, and fails loudly.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from profiler.engines.spark.layout.chains import QueryLayout
from profiler.errors import ProfileError
from profiler.job.topology import Operator

_EXCHANGE = re.compile(r"Exchange (?:(SinglePartition)|\w+\((?:.*?, )?(\d+)\)), (\w+), isPipelined=(\w+)")

# BatchEvalPython, ArrowEvalPython, MapInPandas, FlatMapGroupsInArrow, TransformWithStateInPySpark and their like.
_PYTHON = re.compile(r"[\s:+-]*(?:\*\(\d+\) )?(?:\w*Python\w*|\w+In(?:Pandas|Arrow|PySpark)\w*)\b")


def stage_tasks(executed_plan: str) -> tuple[int, ...]:
    """Read the tasks of every stage after the first, in the order of the rows; an exchange starts a stage.

    The plan is printed sink first. An exchange that is not pipelined would not run at the same time as the others.
    """
    found = []
    for line in executed_plan.splitlines():
        match = _EXCHANGE.search(line)
        if match is None:
            continue
        single, partitions, _, pipelined = match.groups()
        if pipelined != "true":
            raise ProfileError(
                f"Spark planned a shuffle that real-time queries cannot run: {line.strip(' +-')[:200]}.",
                hint="Leave joins and range partitioning out of the operators.",
            )
        found.append(1 if single else int(partitions))
    return tuple(reversed(found))


def check_stages(layout: QueryLayout, executed_plan: str) -> None:
    """Raise where the query does not have one stage for each one laid out, with the tasks it should have."""
    wanted = tuple(stage.tasks for stage in layout.stages[1:])
    found = stage_tasks(executed_plan)
    if found == wanted:
        return
    first = layout.stages[0].tasks
    stages = ", ".join(f"{'+'.join(stage.elements) or 'reading'} {stage.tasks}" for stage in layout.stages)
    raise ProfileError(
        f"Spark runs the operators {' → '.join(layout.chain.elements)} in stages of {_list(first, found)} tasks "
        f"instead of {_list(first, wanted)} ({stages}).",
        hint="An operator that groups, deduplicates or repartitions must say stateful=True, and no other may; "
        "leave repartition() to the profiler.",
    )


def hidden_python(layout: QueryLayout, executed_plan: str, operators: Sequence[Operator]) -> tuple[str, ...]:
    """Return the operators over DataFrames of which one runs Python where no operator over batches says so.

    `operators` are the chain's. What a stateful operator computes of its rows before they are shuffled, a key for
    instance, runs in the stage before its own.
    """
    by_name = {operator.name: operator for operator in operators}
    found: list[str] = []
    for number, (stage, nodes) in enumerate(zip(layout.stages, _python_nodes(executed_plan), strict=True)):
        inside = [by_name[name] for name in stage.elements if name in by_name]
        after = [by_name[name] for each in layout.stages[number + 1 : number + 2] for name in each.elements[:1]]
        if nodes > sum(operator.batches is not None for operator in inside):
            may_be = [*inside, *(operator for operator in after if operator.stateful)]
            found += [operator.name for operator in may_be if operator.batches is None]
    return tuple(dict.fromkeys(found))


def _python_nodes(executed_plan: str) -> list[int]:
    """Count the nodes of each stage that run Python, in the order of the rows."""
    nodes = [0]
    for line in executed_plan.splitlines():
        if _EXCHANGE.search(line) is not None:
            nodes.append(0)
        elif _PYTHON.match(line) is not None:
            nodes[-1] += 1
    return nodes[::-1]


def _list(first: int, others: tuple[int, ...]) -> str:
    return "/".join(map(str, (first, *others)))
