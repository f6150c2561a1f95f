"""The queries of one deployment: they start together, stop together, and are missed where one ends by itself."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable
from pathlib import Path

from profiler.engines.spark.jvm.job_settings import EXCLUDED_RULES
from profiler.engines.spark.layout.placed_job import PlacedJob
from profiler.engines.spark.load.topics import Offsets
from profiler.engines.spark.query import python_operator
from profiler.engines.spark.query.query import Builder, start
from profiler.engines.spark.query.running_query import RunningQuery
from profiler.engines.spark.shared import Shared


class Queries:
    """Starts and stops the queries of a deployment, as often as it is asked to.

    `require_open` raises where the deployment is closed, which another thread may do at any time.
    """

    def __init__(self, shared: Shared, job: PlacedJob, checkpoints: Path, require_open: Callable[[], None]) -> None:
        self.running: dict[str, RunningQuery] = {}
        """The queries that run, by the name of their chain."""
        self.uses = shared.session.spark.sparkContext.accumulator({}, python_operator.MergeUses())
        """Measurements of the tasks of Python operators."""
        self.checkpoints = checkpoints
        """The folder of all checkpoints of the deployment."""
        self.latency_up_to: str | None = None
        """The operator that drops `event_time`, up to which latency is measured; None where none does."""
        self.sampled = True
        """Whether some rows that leave the topology still have their `event_time`."""
        self.require_open = require_open
        self._shared = shared
        self._job = job
        self._starts = itertools.count(1)

    def start(self, starting: Offsets, sample_every: int) -> None:
        """Start all of them at these offsets, with one row in so many sampled, and with empty checkpoints."""
        shared, job = self._shared, self._job
        shared.session.make_active()
        builder = Builder(
            shared.session.spark, job.topology, job.places, job.partitions, self.uses, job.detail, sample_every
        )
        built = [(query, builder.build(query, starting)) for query in job.layout.queries]
        self.latency_up_to, self.sampled = builder.latency_up_to, builder.sampled
        folder = self.checkpoints / str(next(self._starts))
        for number, (query, messages) in reversed(
            list(enumerate(built))
        ):  # downstream first: nobody waits for a reader
            with shared.starting:
                self.require_open()  # another thread may have closed it, and would not see what is started now
                shared.session.configure(
                    {
                        "spark.sql.shuffle.partitions": str(query.shuffle_partitions),
                        "spark.sql.optimizer.excludedRules": "" if job.fused else EXCLUDED_RULES,
                    }
                )
                started = start(
                    messages, query, shared.kafka.address, job.places.output, folder / str(number), shared.window_s
                )
                operators = [each for each in job.topology.operators if each.name in query.chain.operators]
                self.running[query.chain.name] = RunningQuery(query, started, operators, shared.session.log)

    def stop(self) -> None:
        """Stop all of them; calling it twice is fine."""
        with self._shared.starting:
            for query in self.running.values():
                query.stop()
            self.running.clear()

    def next_batches(self) -> dict[str, int]:
        """Give the number of the batch that runs now, or will run first, of each query."""
        return {name: query.next_batch() for name, query in self.running.items()}

    def require_all_active(self) -> None:
        """Raise where one of them has ended."""
        for query in self.running.values():
            self.require_active(query)

    def require_active(self, query: RunningQuery) -> None:
        """Raise where a query has ended: for the broker's death before the user's own error."""
        if not query.is_active():
            self._shared.kafka.check()
            raise query.why_it_ended()

    def delete_checkpoints(self) -> None:
        """Delete the checkpoints, and what came after its end of every deployment that ended before.

        A state store may still write its last snapshot when its query has stopped, and make the folder again.
        """
        self._shared.ended_checkpoints.append(self.checkpoints)
        for each in self._shared.ended_checkpoints:
            shutil.rmtree(each, ignore_errors=True)
