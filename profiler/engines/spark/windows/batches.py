"""Wait for the batches of all queries to end, and note what can be known of them only then."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from profiler.engines.spark.layout.executed_plan import check_stages, hidden_python
from profiler.engines.spark.layout.placed_job import PlacedJob
from profiler.engines.spark.load.topics import rows_between
from profiler.engines.spark.query import python_operator
from profiler.engines.spark.query.queries import Queries
from profiler.engines.spark.query.running_query import RunningQuery
from profiler.engines.spark.shared import Shared
from profiler.engines.spark.windows import assembly
from profiler.errors import ProfileError

OVERDUE_S = 2.0
"""Seconds that a batch may end later than its trigger before anything is suspected."""
STUCK_S = 120.0
"""Seconds later than its trigger from which on a batch is taken for stuck."""
PLANNED_WITHIN_S = 120.0
_POLL_S = 0.03


class BatchWatch:
    """The running queries of a deployment, seen batch by batch."""

    def __init__(
        self,
        shared: Shared,
        job: PlacedJob,
        queries: Queries,
        check_generator: Callable[[], object],
    ) -> None:
        self.hidden_python: frozenset[str] = frozenset()
        """Operators over DataFrames that may run Python, which nobody measures there."""
        self._shared = shared
        self._job = job
        self._queries = queries
        self._waiting: dict[str, int] = {}
        """Rows in the topics that a query reads which it had not read when its last batch ended, by query."""
        self._check_generator = check_generator

    def check_stages(self) -> None:
        """Wait until Spark has planned every query, compare its stages with the plan, and look for Python in them."""
        deadline = time.monotonic() + PLANNED_WITHIN_S
        for query in self._queries.running.values():
            while (executed := query.executed_plan()) is None:
                self._queries.require_active(query)
                if time.monotonic() > deadline:
                    self._shared.kafka.check()
                    raise self._too_long(query, "was not planned", PLANNED_WITHIN_S)
                time.sleep(_POLL_S)
            check_stages(query.layout, executed)
            self.hidden_python |= frozenset(hidden_python(query.layout, executed, query.operators))

    def finish(self, numbers: Mapping[str, int]) -> dict[str, assembly.Finished]:
        """Wait for the end of one batch of each query; what can be known of it only then is noted at once."""
        finished: dict[str, assembly.Finished] = {}
        began = time.monotonic()
        suspected = began + self._shared.window_s + OVERDUE_S
        while True:
            for name in numbers.keys() - finished.keys():
                batch = self._queries.running[name].finished_batch(numbers[name])
                if batch is not None:
                    finished[name] = self._finished(self._queries.running[name], batch)
                else:
                    self._queries.require_active(self._queries.running[name])
            if len(finished) == len(numbers):
                return finished
            now = time.monotonic()
            if now > suspected:
                self._shared.kafka.check()
                self._check_generator()
                suspected = now + OVERDUE_S
            if now - began > self._shared.window_s + STUCK_S:
                late = next(iter(numbers.keys() - finished.keys()))
                raise self._too_long(self._queries.running[late], "had a batch that did not end", now - began)
            time.sleep(_POLL_S)

    def next_after(self, numbers: Mapping[str, int]) -> dict[str, int]:
        """Choose the batches of the next window: of queries with shorter batches than others some are left out."""
        return {name: max(number + 1, self._queries.running[name].next_batch()) for name, number in numbers.items()}

    def forget_waiting(self) -> None:
        """Take the backlog of every query for empty, as a new rate begins."""
        self._waiting = dict.fromkeys(self._queries.running, 0)

    def _finished(self, query: RunningQuery, batch: assembly.Batch) -> assembly.Finished:
        name = query.layout.chain.name
        read = self._job.places.read_by(query.layout.chain)
        ends = self._shared.topics.end_offsets({topic: self._job.partitions[topic] for topic in read})
        waiting = sum(rows_between(batch.end_offsets.get(topic, {}), end) for topic, end in ends.items())
        before, self._waiting[name] = self._waiting[name], waiting
        python = {
            each.name: python_operator.uses_of(self._queries.uses.value, query.query_id, batch.number, each.name)
            for each in query.operators
            if each.batches is not None
        }
        stateful = next((each.name for each in query.operators if each.stateful), None)
        return assembly.Finished(batch, waiting, before, self._stage_cpu(query, batch.number), python, stateful)

    def _stage_cpu(self, query: RunningQuery, number: int) -> tuple[assembly.StageCpu, ...]:
        stages = self._shared.stages
        # A hot key is a matter of stateful operators; elsewhere rows go to tasks in turns.
        keyed = {each.name for each in query.operators if each.stateful}
        return tuple(
            assembly.StageCpu(
                use.cpu_s, stages.busiest_task_s(use) if use.tasks > 1 and keyed & set(stage.elements) else None
            )
            for stage, use in zip(
                query.layout.stages, stages.of_batch(query.run_id, number, len(query.layout.stages)), strict=True
            )
        )

    def _too_long(self, query: RunningQuery, what: str, seconds: float) -> ProfileError:
        return ProfileError(
            f"The query of {' → '.join(query.layout.chain.elements)} {what} within {seconds:.0f} s.",
            hint=f"Spark's log is {self._shared.session.log}.",
        )
