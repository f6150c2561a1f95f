"""What Spark made of a query: the stages it really has, read from the executed plan.

Optimiser rules may move an operator's work to another stage or join stages. The ones that are known to are switched off
where operators have stages of their own (`EXCLUDED_RULES`); what is left is found here, and fails loudly.
"""

from __future__ import annotations

import re

from profiler.engines.spark.chains import QueryPlan
from profiler.errors import ProfileError

_EXCHANGE = re.compile(r"Exchange (?:(SinglePartition)|\w+\((?:.*?, )?(\d+)\)), (\w+), isPipelined=(\w+)")


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


def check_stages(plan: QueryPlan, executed_plan: str) -> None:
    """Raise where the query does not have one stage for each planned one, with the tasks it should have."""
    wanted = tuple(stage.tasks for stage in plan.stages[1:])
    found = stage_tasks(executed_plan)
    if found == wanted:
        return
    first = plan.stages[0].tasks
    stages = ", ".join(f"{'+'.join(stage.elements) or 'reading'} {stage.tasks}" for stage in plan.stages)
    raise ProfileError(
        f"Spark runs the operators {' → '.join(plan.chain.elements)} in stages of {_list(first, found)} tasks "
        f"instead of {_list(first, wanted)} ({stages}).",
        hint="An operator that groups, deduplicates or repartitions must say stateful=True, and no other may; "
        "leave repartition() to the profiler.",
    )


def _list(first: int, others: tuple[int, ...]) -> str:
    return "/".join(map(str, (first, *others)))
