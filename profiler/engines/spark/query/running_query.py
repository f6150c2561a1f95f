"""One query as it runs: its plan, its batches, its end."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from profiler.engines.spark.jvm.failures import died
from profiler.engines.spark.layout.chains import QueryLayout
from profiler.engines.spark.windows.assembly import Batch, read_progress
from profiler.errors import ProfileError
from profiler.job.topology import Operator


@dataclass(frozen=True, slots=True)
class RunningQuery:
    """A started query of a chain."""

    layout: QueryLayout
    query: StreamingQuery
    operators: Sequence[Operator]
    """The operators of the chain."""
    log: Path

    @property
    def run_id(self) -> str:
        """The name that Spark's REST interface has for it."""
        return str(self.query.runId)

    @property
    def query_id(self) -> str:
        """The name that its tasks have for it."""
        return str(self.query.id)

    def executed_plan(self) -> str | None:
        """Print the plan of its latest batch; None before the first is planned."""
        execution = self._java.streamingQuery().lastExecution()
        return None if execution is None else str(execution.executedPlan().toString())

    def next_batch(self) -> int:
        """Give the number of the batch that runs now, or will run first."""
        last = self._java.lastProgress()
        return 0 if last is None else int(last.batchId()) + 1

    def finished_batch(self, number: int) -> Batch | None:
        """Give a batch that has ended, None while it runs; only the newest are remembered."""
        last = self._java.lastProgress()
        if last is None or last.batchId() < number:
            return None
        if last.batchId() == number:
            return read_progress(last.json())
        for progress in reversed(self._java.recentProgress()):
            if progress.batchId() == number:
                return read_progress(progress.json())
        raise ProfileError(f"Spark has forgotten batch {number}.", hint="Use longer windows.")

    def is_active(self) -> bool:
        """Tell whether it still runs."""
        return bool(self.query.isActive)

    def why_it_ended(self) -> ProfileError:
        """Explain its end: the operator and the user's line, where one of them caused it."""
        return died(str(self.query.exception() or "It was stopped."), self.operators, self.log)

    def stop(self) -> None:
        """Stop it; one that died, or whose broker is gone, has nothing to stop."""
        with contextlib.suppress(Exception):
            self.query.stop()

    @property
    def _java(self) -> Any:
        """Spark's own object: it alone knows the plan, and answers without building a Python object of everything."""
        return self.query._jsq  # noqa: SLF001
