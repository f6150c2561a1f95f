"""One configuration on Spark, running: its topics, its generator, its queries, and the windows seen of them."""

from __future__ import annotations

import contextlib
import itertools
import math
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from profiler.engines.spark.jvm.job_settings import EXCLUDED_RULES
from profiler.engines.spark.jvm.machine_use import MachineUse, Use
from profiler.engines.spark.layout.chains import Layout
from profiler.engines.spark.layout.topic_names import partitions_of, places_of
from profiler.engines.spark.load.branch_progress import ChainProgress
from profiler.engines.spark.load.state_filling import Filling
from profiler.engines.spark.load.throttle import Throttle, ThrottleThread
from profiler.engines.spark.load.topics import Offsets
from profiler.engines.spark.query import python_operator
from profiler.engines.spark.query.key_counts import KeyCounts
from profiler.engines.spark.query.query import Builder, start
from profiler.engines.spark.query.running_query import RunningQuery
from profiler.engines.spark.shared import Shared
from profiler.engines.spark.windows import assembly
from profiler.engines.spark.windows.batches import BatchWatch
from profiler.engines.spark.windows.latency import SampleCollector
from profiler.engines.spark.windows.production_weights import as_in
from profiler.engines.spark.windows.span import counted_span
from profiler.errors import ProfileError
from profiler.experiment.observation import Detail, Observation, OperatorWindow
from profiler.job.configuration import Configuration
from profiler.job.topology import Topology
from profiler.traffic.generator.process import GeneratorProcess
from profiler.traffic.generator.wire import Target

SAMPLES_PER_WINDOW = 400
"""Sampled source rows that a window should hold: enough for its p99 to mean something."""
FEWEST_SAMPLED = 64
"""At high rates one row in this many is sampled, which costs nothing that could be seen."""
WHOLE = 0.9
"""Part of a window that a batch must have seen of the offered rate to count as one."""
DRAINS_WITHIN_S = 5.0
FILLING_DRAINS_WITHIN_S = 30.0
DRAINED_S = 0.3
"""So little of the last rows sent may be missing, as only sampled ones are seen coming out."""
ENOUGH_PER_S = 4000.0
"""A job that takes so much is quick enough to be sampled less from here on. With 250, all rows of the first round were
sampled: word count, which takes ten times that, showed 5,400 rows/s with one task each instead of 8,000 to 9,000."""
AHEAD = 4.0
"""A job may take so many times what was seen of it so far, and must not be sampled too much then."""
_POLL_S = 0.03


class SparkDeployment:
    """One configuration, running."""

    def __init__(
        self,
        means: Shared,
        topology: Topology,
        configuration: Configuration,
        deployed: Layout,
        detail: Detail,
        payloads: Mapping[str, Path],
        trial: str,
        *,
        fused: bool,
    ) -> None:
        self.layout = deployed
        self._means = means
        self._topology = topology
        self._detail = detail
        self._fused = fused
        self._folder = means.run.data / "checkpoints" / trial
        self.places = places_of(means.kafka.address, f"{means.run.name}-{trial}", deployed)
        self._partitions = partitions_of(configuration, deployed, self.places)
        self._uses = means.session.spark.sparkContext.accumulator({}, python_operator.MergeUses())
        self._starts = itertools.count(1)
        self._machine = None if means.jvm is None else MachineUse(means.jvm)
        self.closed = False
        self._blind = False
        self._sent_until_s: float | None = None
        self._guess_per_s = means.capacities.get(topology.name, 0.0)
        self._seen_per_s = 0.0
        self._sample_every = _sample_every(AHEAD * self._guess_per_s, means.window_s)
        self.latency_up_to: str | None = None
        """The operator that drops `event_time`, up to which latency is measured; None where none does."""
        with contextlib.ExitStack() as undo:
            undo.callback(self._delete)
            created = {**self._partitions, **self.places.written}
            means.topics.create(created, stamped_on_arrival=frozenset({self.places.samples}))
            self._keys = KeyCounts()
            self._collector = SampleCollector(means.kafka.address, self.places.samples)
            undo.callback(self._collector.close)
            self._progress: SampleCollector | ChainProgress = self._collector
            if self.places.hops:
                telling = means.telling.get(topology.name)
                self._progress = ChainProgress(means.kafka.address, self.places.marks, self.places.hops, telling)
                undo.callback(self._progress.close)
            self._generator = GeneratorProcess(
                means.kafka.address,
                [
                    Target(self.places.sources[name], str(payloads[name]), share)
                    for name, share in topology.source_shares.items()
                ],
                log=means.run.logs / "generator.log",
            )
            undo.callback(self._generator.stop)
            self._batches = BatchWatch(means, self.places, self._partitions, self._uses, self._generator.report)
            undo.callback(self._stop)
            with ThreadPoolExecutor(1) as beside:
                generating = beside.submit(self._generator.start)
                self._start({topic: dict.fromkeys(range(count), 0) for topic, count in self._partitions.items()})
                self._batches.check_stages()
                generating.result()
            self._undo = undo.pop_all()

    def observe(self, rate_per_s: float, windows: int) -> Iterator[Observation]:
        """Offer the rate, starting with an empty backlog, and yield that many windows as their batches end.

        The batch that runs when the rate is reached counts from then on, where enough of it is left.
        """
        self._require_open()
        if not self._capacity_per_s and not self._blind:
            self._approach(rate_per_s)
        self._make_ready(rate_per_s)
        if self._means.prefill_keys and not self._filled:
            self._fill_state(rate_per_s)
        numbers = {name: query.next_batch() for name, query in self._batches.queries.items()}
        with self._offered(rate_per_s) as keeper:
            self._use()  # from here on
            while windows > 0:
                finished = self._batches.finish(numbers)
                numbers = self._batches.next_after(numbers)
                keeper.require_working()
                observation = self._observation(finished, keeper, self._use())
                if observation is not None:
                    windows -= 1
                    yield observation

    def close(self) -> None:
        """Stop queries and generator, delete topics and checkpoints; calling it twice is fine."""
        if not self.closed:
            self.closed = True
            self._undo.close()

    def _require_open(self) -> None:
        if self.closed:
            raise ProfileError("The deployment is closed.", hint="Deploy the configuration again.")

    @property
    def _capacity_per_s(self) -> float:
        """The rate at which rows came out so far, or did of another configuration; 0 while unknown."""
        return self._seen_per_s or self._guess_per_s

    @property
    def _bounded(self) -> frozenset[str]:
        """Queries that the gate waits for."""
        return (self._progress.telling if isinstance(self._progress, ChainProgress) else None) or frozenset()

    @contextlib.contextmanager
    def _offered(self, rate_per_s: float) -> Iterator[ThrottleThread]:
        """Offer a rate, and learn what the job takes of it."""
        buffered_rows = _buffered_rows(self.layout, self._topology, self._means.session.rows_per_python_batch)
        gate = Throttle(
            rate_per_s, self._sample_every, self._capacity_per_s, blind=self._blind, buffered_rows=buffered_rows
        )
        keeper = ThrottleThread(gate, self._set_rate, self._progress.arrivals)
        keeper.start()
        try:
            yield keeper
        finally:
            keeper.stop()
            self._sent_until_s = gate.sent_until_s(time.time())
            self._blind = gate.blind
            # The most that came out at any rate; a small stream shows less than the job could do.
            self._seen_per_s = max(self._seen_per_s, gate.capacity_per_s)
            self._means.capacities[self._topology.name] = self._seen_per_s
            if self._bounded:
                self._means.telling[self._topology.name] = self._bounded

    def _approach(self, rate_per_s: float) -> None:
        """Find out roughly what a job of unknown capacity takes.

        Every row is sampled meanwhile, so that a few rows a second are seen: at one in 64 a job that takes a hundred
        would look deaf, and be drowned.
        """
        with self._offered(rate_per_s) as keeper:
            gate = keeper.gate
            while gate.counted_from_s is None and gate.capacity_per_s < ENOUGH_PER_S and not gate.blind:
                keeper.require_working()
                self._let_run()

    def _make_ready(self, rate_per_s: float) -> None:
        """Have an empty backlog and enough samples; to start behind a backlog that does not drain is quicker."""
        expected_per_s = min(rate_per_s, AHEAD * self._capacity_per_s) if self._capacity_per_s else rate_per_s
        samples = expected_per_s * self._means.window_s / self._sample_every
        too_few = samples < SAMPLES_PER_WINDOW / 4 and self._sample_every > 1
        too_many = samples > SAMPLES_PER_WINDOW * 16 and self._sample_every < FEWEST_SAMPLED
        if too_few or too_many or not self._drains():
            self._require_open()
            self._sample_every = _sample_every(expected_per_s, self._means.window_s)
            self._stop()
            self._start(self._means.topics.end_offsets(self._partitions))
        self._batches.waiting = dict.fromkeys(self._batches.queries, 0)

    def _fill_state(self, rate_per_s: float) -> None:
        """Bring keys into the state, as fast as the job takes them, and let what was sent for that drain."""
        filling = Filling(self._means.prefill_keys, time.monotonic())
        fast_per_s = max(rate_per_s, 2 * self._capacity_per_s)
        numbers = {name: query.next_batch() for name, query in self._batches.queries.items()}
        with self._offered(fast_per_s):
            while True:
                finished = self._batches.finish(numbers)
                numbers = self._batches.next_after(numbers)
                rows = {each.stateful: each.batch.state_rows or 0 for each in finished.values() if each.stateful}
                if not filling.goes_on(rows, time.monotonic()):
                    break
        self._filled = True
        self._drains(FILLING_DRAINS_WITHIN_S)  # a restart would lose the state, so it is waited for
        # The batch that drained it has just begun, and would count as a whole window of what comes now.
        self._batches.finish({name: query.next_batch() for name, query in self._batches.queries.items()})
        self._batches.waiting = dict.fromkeys(self._batches.queries, 0)

    def _drains(self, within_s: float = DRAINS_WITHIN_S) -> bool:
        """Wait until what was sent has come out; the gate sees to it that it is little."""
        if self._sent_until_s is None:
            return True
        deadline = time.monotonic() + within_s
        while self._progress.arrivals().newest_due_s < self._sent_until_s - DRAINED_S:
            if self._blind or time.monotonic() > deadline:
                return False
            self._let_run()
        return True

    def _let_run(self) -> None:
        """Wait a moment; a query or a generator that has died is told of at once, and so is another thread's end."""
        self._require_open()
        self._generator.report()
        for query in self._batches.queries.values():
            self._batches.require_active(query)
        time.sleep(_POLL_S)

    def _use(self) -> Use:
        return Use() if self._machine is None else self._machine.look()

    def _set_rate(self, rate_per_s: float) -> None:
        self._generator.set_rate(rate_per_s, abandon_owed=True)

    def _start(self, starting: Offsets) -> None:
        means = self._means
        means.session.make_active()
        builder = Builder(
            means.session.spark,
            self._topology,
            self.places,
            self._partitions,
            self._uses,
            self._detail,
            self._sample_every,
        )
        built = [(query, builder.build(query, starting)) for query in self.layout.queries]
        self.latency_up_to = builder.latency_up_to
        self._blind |= not builder.sampled
        self._filled = False  # a new checkpoint has no state
        folder = self._folder / str(next(self._starts))
        for number, (query, messages) in reversed(
            list(enumerate(built))
        ):  # downstream first: nobody waits for a reader
            with means.starting:
                self._require_open()  # another thread may have closed it, and would not see what is started now
                means.session.configure(
                    {
                        "spark.sql.shuffle.partitions": str(query.shuffle_partitions),
                        "spark.sql.optimizer.excludedRules": "" if self._fused else EXCLUDED_RULES,
                    }
                )
                started = start(
                    messages, query, means.kafka.address, self.places.output, folder / str(number), means.window_s
                )
                operators = [each for each in self._topology.operators if each.name in query.chain.operators]
                self._batches.queries[query.chain.name] = RunningQuery(query, started, operators, means.session.log)

    def _stop(self) -> None:
        with self._means.starting:
            for query in self._batches.queries.values():
                query.stop()
            self._batches.queries.clear()

    def _delete(self) -> None:
        if not self._means.kafka.ended:  # else nobody answers, and the wait for it would only delay the bad news
            self._means.topics.delete([*self._partitions, *self.places.written])
        self._means.ended_checkpoints.append(self._folder)
        _delete_checkpoints(self._means.ended_checkpoints)

    def _observation(
        self, finished: Mapping[str, assembly.Finished], keeper: ThrottleThread, use: Use
    ) -> Observation | None:
        """Put the window together; None for a batch that saw too little of the rate."""
        lead = finished[self.layout.queries[0].chain.name].batch
        gate, rate_per_s = keeper.gate, keeper.gate.rate_per_s
        span = counted_span(lead.start_s, lead.end_s, sent_from_s=gate.began_s, counted_from_s=gate.counted_from_s)
        if span.duration_s < WHOLE * self._means.window_s:
            self._generator.report()  # where it has died, the rate never counts
            return None
        achieved = self._generator.achieved(span.start_s, span.end_s)
        held_before, held = keeper.held_rows(np.array([span.start_s, span.end_s])).tolist()
        processing, end_to_end = self._collector.between(
            span.start_s,
            span.end_s,
            lambda due_s: keeper.held_rows(due_s) / rate_per_s,
            as_in(self._means.production_batch_s, self._means.window_s, lead.start_s),
        )
        if self.latency_up_to is not None and math.isnan(processing.p50):
            processing, end_to_end = assembly.watched_latency(finished) or (processing, end_to_end)
        known = self._means.weights.get(self._topology.name, {})
        operators = assembly.operator_windows(
            self.layout, finished, self.places.sources, span.scale_s, known, counted=self._detail is Detail.FULL
        )
        learnt = assembly.learnt_weights(operators, self.layout, lead.rows * span.scale_s / lead.duration_s)
        self._means.weights[self._topology.name] = known | learnt
        for each in finished.values():
            self._keys.add(each.batch.observed)
        operators |= self._with_hot_keys(operators)
        operators |= {name: replace(operators[name], hides_python=True) for name in self._batches.hidden_python}
        sources = [query.chain.name for query in self.layout.queries if query.chain.sources]
        sustained_per_s = assembly.throughput_per_s(self.layout, finished, self._bounded)
        return Observation(
            start_s=span.start_s,
            duration_s=span.duration_s,
            offered_per_s=achieved.offered_per_s + (held - held_before) / span.duration_s,
            throughput_per_s=sustained_per_s * span.scale_s / span.duration_s,
            processing_ms=processing,
            end_to_end_ms=end_to_end,
            queue_rows=held + sum(finished[name].waiting for name in sources),
            overran=assembly.overran(finished, self._means.window_s),
            speed_index=self._means.speed.between(span.start_s, span.end_s),
            cpu_s=assembly.cpu_s(finished, span.scale_s),
            cores_used=use.cores,
            compiling_cores=use.compiling,
            generator_limited=achieved.limited,
            operators=operators,
        )

    def _with_hot_keys(self, operators: Mapping[str, OperatorWindow]) -> dict[str, OperatorWindow]:
        """Name the most frequent key of keyed operators, where keys are counted."""
        named = {}
        for operator in self._topology.operators:
            found = self._keys.most_frequent(operator.name)
            if found is not None:
                named[operator.name] = replace(operators[operator.name], hot_key=found[0], hot_key_share=found[1])
        return named


def _delete_checkpoints(ended: Sequence[Path]) -> None:
    """Delete the checkpoints of all deployments that have ended: of the last one, and what came after of those before.

    A state store may still write its last snapshot when its query has stopped, and make the folder again.
    """
    for each in ended:
        shutil.rmtree(each, ignore_errors=True)


def _buffered_rows(deployed: Layout, topology: Topology, rows_per_batch: int) -> float:
    """Count the rows that Python operators may hold before all their tasks have a whole batch.

    Rows are spread at random, hence twice as many as in whole batches.
    """
    python = {operator.name for operator in topology.operators if operator.batches is not None}
    stages = [stage for query in deployed.queries for stage in query.stages]
    return 2.0 * rows_per_batch * sum(stage.tasks for stage in stages if python & set(stage.elements))


def _sample_every(rate_per_s: float, window_s: float) -> int:
    """Choose how many rows there are for each sampled one: a power of four, so that small changes change nothing."""
    every = 1
    while every < FEWEST_SAMPLED and rate_per_s * window_s / (4 * every) >= SAMPLES_PER_WINDOW:
        every *= 4
    return every
