"""The load of one deployment: rates that are offered through a throttle, and what they teach of the job."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Protocol

from profiler.engines.spark.layout.chains import Layout
from profiler.engines.spark.layout.placed_job import PlacedJob
from profiler.engines.spark.load.sampling_rate import is_fitting, sample_every
from profiler.engines.spark.load.throttle import Arrivals, Throttle, ThrottleThread
from profiler.engines.spark.query.queries import Queries
from profiler.engines.spark.shared import Shared
from profiler.job.topology import Topology
from profiler.traffic.generator.process import GeneratorProcess

DRAINED_S = 0.3
"""So little of the last rows sent may be missing, as only sampled ones are seen coming out."""
AHEAD = 4.0
"""A job may take so many times what was seen of it so far, and must not be sampled too much then."""


class JobProgress(Protocol):
    """How far a job has come, as its sampled rows tell."""

    @property
    def telling(self) -> frozenset[str] | None:
        """Queries that tell how far they are; None while that is not known, or where one query is all there is."""

    def arrivals(self) -> Arrivals:
        """Tell what has come out in the last moment."""


class OfferedLoad:
    """Offers rates to a running job, never more than it can take, and remembers what it took."""

    def __init__(
        self, shared: Shared, job: PlacedJob, queries: Queries, generator: GeneratorProcess, progress: JobProgress
    ) -> None:
        self._session = shared.session
        self._job = job
        self._queries = queries
        self._generator = generator
        self._progress = progress
        self._window_s = shared.window_s
        self._memory = shared.memory_of(job.topology.name)
        self._guess_per_s = self._memory.capacity_per_s
        self._seen_per_s = 0.0
        self._settled_per_s = 0.0
        """The rate at which rows came out when it was last offered more than it took."""
        self._found_blind = False
        self._sent_until_s: float | None = None
        # For a job that takes what was seen lately: then stress and probes, from a quarter to four times of it, fit.
        self.sample_every = sample_every(self._guess_per_s, shared.window_s)
        """The number of rows for each sampled one, since the queries were started."""

    @property
    def capacity_per_s(self) -> float:
        """The rate at which rows came out so far, or did of another configuration; 0 while unknown."""
        return self._seen_per_s or self._guess_per_s

    @property
    def blind(self) -> bool:
        """Whether what comes out of the job tells nothing of how much it takes."""
        return self._found_blind or not self._queries.sampled

    @property
    def bounded(self) -> frozenset[str]:
        """Queries that the throttle waits for."""
        return self._progress.telling or frozenset()

    @property
    def has_drained(self) -> bool:
        """Whether all that was sent has come out."""
        if self._sent_until_s is None:
            return True
        return self._progress.arrivals().newest_due_s >= self._sent_until_s - DRAINED_S

    @contextlib.contextmanager
    def at(self, rate_per_s: float) -> Iterator[ThrottleThread]:
        """Offer a rate, and learn what the job takes of it."""
        buffered_rows = _buffered_rows(self._job.layout, self._job.topology, self._session.rows_per_python_batch)
        throttle = Throttle(
            rate_per_s,
            self.sample_every,
            self.capacity_per_s,
            settled_per_s=self._settled_per_s,
            blind=self.blind,
            buffered_rows=buffered_rows,
        )
        throttle_thread = ThrottleThread(throttle, self._set_rate, self._progress.arrivals)
        throttle_thread.start()
        try:
            yield throttle_thread
        finally:
            throttle_thread.stop()
            self._sent_until_s = throttle.sent_until_s(time.time())
            self._found_blind = throttle.blind
            # The most that came out at any rate; a small stream shows less than the job could do.
            self._seen_per_s = max(self._seen_per_s, throttle.capacity_per_s)
            if throttle.held_back:
                self._settled_per_s = throttle.capacity_per_s
            self._memory.capacity_per_s = self._seen_per_s
            if self.bounded:
                self._memory.telling = self.bounded

    def is_sampled_well(self, rate_per_s: float) -> bool:
        """Tell whether windows at a rate will hold about as many samples as they should."""
        return is_fitting(self.sample_every, self._expected_per_s(rate_per_s), self._window_s)

    def sample_for(self, rate_per_s: float) -> None:
        """Choose how thinly rows are sampled at a rate, from the next start of the queries on."""
        self.sample_every = sample_every(self._expected_per_s(rate_per_s), self._window_s)

    def _expected_per_s(self, rate_per_s: float) -> float:
        return min(rate_per_s, AHEAD * self.capacity_per_s) if self.capacity_per_s else rate_per_s

    def _set_rate(self, rate_per_s: float) -> None:
        self._generator.set_rate(rate_per_s, abandon_owed=True)


def _buffered_rows(deployed: Layout, topology: Topology, rows_per_batch: int) -> float:
    """Count the rows that Python operators may hold before all their tasks have a whole batch.

    Rows are spread at random, hence twice as many as in whole batches.
    """
    python = {operator.name for operator in topology.operators if operator.batches is not None}
    stages = [stage for query in deployed.queries for stage in query.stages]
    return 2.0 * rows_per_batch * sum(stage.tasks for stage in stages if python & set(stage.elements))
