"""Windows as the experiment sees them: finished batches together with all that was measured beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from profiler.engines.spark.jvm.machine_use import Use
from profiler.engines.spark.layout.placed_job import PlacedJob
from profiler.engines.spark.load.throttle import ThrottleThread
from profiler.engines.spark.query.key_counts import KeyCounts
from profiler.engines.spark.shared import Shared
from profiler.engines.spark.windows import assembly
from profiler.engines.spark.windows.generator_limit import is_limiting
from profiler.engines.spark.windows.latency import SampleCollector
from profiler.engines.spark.windows.production_weights import as_in
from profiler.engines.spark.windows.span import counted_span
from profiler.experiment.observation import Detail, Observation, OperatorWindow
from profiler.traffic.generator.process import GeneratorProcess

WHOLE = 0.9
"""Part of a window that a batch must have seen of the offered rate to count as one."""


class Observations:
    """Puts the windows of one deployment together."""

    def __init__(self, shared: Shared, job: PlacedJob, collector: SampleCollector, generator: GeneratorProcess) -> None:
        self._shared = shared
        self._job = job
        self._collector = collector
        self._generator = generator
        self._memory = shared.memory_of(job.topology.name)
        self._keys = KeyCounts()

    def of(
        self,
        finished: Mapping[str, assembly.Finished],
        throttle_thread: ThrottleThread,
        use: Use,
        *,
        bounded: frozenset[str],
        latency_up_to: str | None,
        hidden_python: frozenset[str],
    ) -> Observation | None:
        """Put a window together; None for batches that saw too little of the rate.

        Queries that are `bounded` are waited for by the throttle, operators of `hidden_python` may run some that nobody
        measures; latency is that of the rows on their way to the operator `latency_up_to`, where that drops their time.
        """
        layout, window_s = self._job.layout, self._shared.window_s
        lead = finished[layout.queries[0].chain.name].batch
        throttle = throttle_thread.throttle
        span = counted_span(
            lead.start_s, lead.end_s, sent_from_s=throttle.began_s, counted_from_s=throttle.counted_from_s
        )
        if span.duration_s < WHOLE * window_s:
            self._generator.report()  # where it has died, the rate never counts
            return None
        achieved = self._generator.achieved(span.start_s, span.end_s)
        held_before, held = throttle_thread.held_rows(np.array([span.start_s, span.end_s])).tolist()
        sampled = self._collector.between(
            span.start_s,
            span.end_s,
            lambda due_s: throttle_thread.held_rows(due_s) / throttle.rate_per_s,
            as_in(
                self._shared.production_batch_s,
                window_s,
                [finished[query.chain.name].batch.start_s for query in layout.queries],
            ),
        )
        processing = sampled.processing
        if latency_up_to is not None and math.isnan(processing.p50):
            processing = assembly.watched_latency(finished) or processing
        operators = self._operators(finished, lead, span.scale_s)
        operators |= {name: replace(operators[name], hides_python=True) for name in hidden_python}
        sources = [query.chain.name for query in layout.queries if query.chain.sources]
        sustained_per_s = assembly.throughput_per_s(layout, finished, bounded)
        return Observation(
            start_s=span.start_s,
            duration_s=span.duration_s,
            offered_per_s=achieved.offered_per_s + (held - held_before) / span.duration_s,
            throughput_per_s=sustained_per_s * span.scale_s / span.duration_s,
            processing_ms=processing,
            queue_rows=held + sum(finished[name].waiting for name in sources),
            overran=assembly.overran(finished, window_s),
            speed_index=self._shared.speed.between(span.start_s, span.end_s),
            cpu_s=assembly.cpu_s(finished, span.scale_s),
            cores_used=use.cores,
            compiling_cores=use.compiling,
            generator_limited=is_limiting(achieved, use, self._shared.session.cores),
            operators=operators,
            disturbance=use.disturbance,
            processing_rows=sampled.processing_rows,
            end_to_end_rows=sampled.end_to_end_rows,
        )

    def _operators(
        self, finished: Mapping[str, assembly.Finished], lead: assembly.Batch, scale_s: float
    ) -> dict[str, OperatorWindow]:
        """Tell what every operator did, and learn what its rows cost, for windows in which it shares a stage."""
        layout, known = self._job.layout, self._memory.weights
        counted = self._job.detail is Detail.FULL
        operators = assembly.operator_windows(
            layout, finished, self._job.places.sources, scale_s, known, counted=counted
        )
        learnt = assembly.learnt_weights(operators, layout, lead.rows * scale_s / lead.duration_s)
        self._memory.weights = {**known, **learnt}
        for each in finished.values():
            self._keys.add(each.batch.observed)
        return operators | self._with_hot_keys(operators)

    def _with_hot_keys(self, operators: Mapping[str, OperatorWindow]) -> dict[str, OperatorWindow]:
        """Name the most frequent key of keyed operators, where keys are counted."""
        named = {}
        for operator in self._job.topology.operators:
            found = self._keys.most_frequent(operator.name)
            if found is not None:
                named[operator.name] = replace(operators[operator.name], hot_key=found[0], hot_key_share=found[1])
        return named
