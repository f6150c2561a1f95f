"""What comes before the windows of a rate: the job's capacity roughly known, an empty backlog, a full state."""

from __future__ import annotations

import time
from collections.abc import Callable

from profiler.engines.spark.layout.placed_job import PlacedJob
from profiler.engines.spark.load.offered_load import OfferedLoad
from profiler.engines.spark.load.state_filling import Filling
from profiler.engines.spark.query.queries import Queries
from profiler.engines.spark.shared import Shared
from profiler.engines.spark.windows.batches import BatchWatch

DRAINS_WITHIN_S = 5.0
"""Seconds in which a backlog must drain, or the queries start anew behind it."""
FILLING_DRAINS_WITHIN_S = 30.0
"""Seconds in which what filled the state should drain."""
ENOUGH_PER_S = 4000.0
"""Rows per second from which on a job is sampled less: while all rows of a quick one are, it is slower than it is
(scripts/benches/results/engine.md)."""
FIRST_ROWS = 0.1
"""Part of a rate that is sent to queries that were started anew, until all of their tasks work."""
_POLL_S = 0.03


class Readiness:
    """Makes a deployment ready for a rate."""

    def __init__(
        self,
        shared: Shared,
        job: PlacedJob,
        queries: Queries,
        batches: BatchWatch,
        load: OfferedLoad,
        check_generator: Callable[[], object],
    ) -> None:
        self._shared = shared
        self._job = job
        self._queries = queries
        self._batches = batches
        self._load = load
        self._check_generator = check_generator
        self._filled = False

    def make_ready(self, rate_per_s: float) -> None:
        """Learn roughly what the job takes, where that is unknown, empty its backlog, and fill its state."""
        if not self._load.capacity_per_s and not self._load.blind:
            self._approach(rate_per_s)
        self._empty(rate_per_s)
        if self._shared.prefill_keys and not self._filled:
            self._fill_state(rate_per_s)

    def restart(self) -> None:
        """Start the queries anew where the topics end now: behind the backlog, and without state."""
        self._queries.stop()
        self._filled = False  # a new checkpoint has no state
        self._queries.start(self._shared.topics.end_offsets(self._job.partitions), self._load.sample_every)
        self._batches.forget_waiting()

    def _approach(self, rate_per_s: float) -> None:
        """Find out roughly what a job of unknown capacity takes.

        Every row is sampled meanwhile, so that a few rows a second are seen: at one in 64 a job that takes a hundred
        would look deaf, and be drowned.
        """
        with self._load.at(rate_per_s) as throttle_thread:
            throttle = throttle_thread.throttle
            while throttle.counted_from_s is None and throttle.capacity_per_s < ENOUGH_PER_S and not throttle.blind:
                throttle_thread.require_working()
                self._let_run()

    def _empty(self, rate_per_s: float) -> None:
        """Have an empty backlog and enough samples; to start behind a backlog that does not drain is quicker."""
        if not self._load.is_sampled_well(rate_per_s) or not self._drains(DRAINS_WITHIN_S):
            self._queries.require_open()
            self._load.sample_for(rate_per_s)
            self.restart()
            if not self._load.blind:
                self._come_up(rate_per_s)
        self._batches.forget_waiting()

    def _come_up(self, rate_per_s: float) -> None:
        """Let a few rows through until the first batch has ended, which it does when every task has done its part.

        Rows that are sent meanwhile wait for tasks to start. Dozens of Python workers took seconds for that, and a
        latency probe behind such a start told of nothing else (scripts/benches/results/deployment.md).
        """
        with self._load.at(FIRST_ROWS * rate_per_s):
            self._batches.finish(self._queries.next_batches())

    def _fill_state(self, rate_per_s: float) -> None:
        """Bring keys into the state, as fast as the job takes them, and let what was sent for that drain."""
        filling = Filling(self._shared.prefill_keys, time.monotonic())
        fast_per_s = max(rate_per_s, 2 * self._load.capacity_per_s)
        numbers = self._queries.next_batches()
        with self._load.at(fast_per_s):
            while True:
                finished = self._batches.finish(numbers)
                numbers = self._batches.next_after(numbers)
                rows = {each.stateful: each.batch.state_rows or 0 for each in finished.values() if each.stateful}
                if not filling.goes_on(rows, time.monotonic()):
                    break
        self._filled = True
        self._drains(FILLING_DRAINS_WITHIN_S)  # a restart would lose the state, so it is waited for
        # The batch that drained it has just begun, and would count as a whole window of what comes now.
        self._batches.finish(self._queries.next_batches())
        self._batches.forget_waiting()

    def _drains(self, within_s: float) -> bool:
        """Wait until what was sent has come out; the throttle sees to it that it is little."""
        deadline = time.monotonic() + within_s
        while not self._load.has_drained:
            if self._load.blind or time.monotonic() > deadline:
                return False
            self._let_run()
        return True

    def _let_run(self) -> None:
        """Wait a moment; a query or a generator that has died is told of at once, and so is another thread's end."""
        self._queries.require_open()
        self._check_generator()
        self._queries.require_all_active()
        time.sleep(_POLL_S)
