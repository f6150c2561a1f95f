"""One configuration on Spark, running: its topics, its generator, its queries, and the windows seen of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from profiler.engines.spark.jvm.machine_use import MachineUse, Use
from profiler.engines.spark.layout.chains import Layout
from profiler.engines.spark.layout.placed_job import PlacedJob
from profiler.engines.spark.layout.topic_names import partitions_of, places_of
from profiler.engines.spark.load.branch_progress import ChainProgress
from profiler.engines.spark.load.offered_load import JobProgress, OfferedLoad
from profiler.engines.spark.load.readiness import Readiness
from profiler.engines.spark.query.queries import Queries
from profiler.engines.spark.shared import Shared
from profiler.engines.spark.windows.batches import BatchWatch
from profiler.engines.spark.windows.latency import SampleCollector
from profiler.engines.spark.windows.observations import Observations
from profiler.errors import ProfileError
from profiler.experiment.observation import Detail, Observation
from profiler.job.configuration import Configuration
from profiler.job.topology import Topology
from profiler.traffic.generator.process import GeneratorProcess
from profiler.traffic.generator.wire import Target


class SparkDeployment:
    """One configuration, running."""

    def __init__(
        self,
        shared: Shared,
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
        self.places = places_of(shared.kafka.address, f"{shared.run.name}-{trial}", deployed)
        self.closed = False
        self._shared = shared
        partitions = partitions_of(configuration, deployed, self.places)
        self._job = PlacedJob(topology, deployed, self.places, partitions, detail, fused)
        self.queries = Queries(shared, self._job, shared.run.data / "checkpoints" / trial, self._require_open)
        self._machine = (
            None
            if shared.jvm is None
            else MachineUse(shared.jvm, shared.session.garbage.paused_s, shared.kafka.address)
        )
        with contextlib.ExitStack() as undo:
            undo.callback(self._delete)
            shared.topics.create(self._job.topics, stamped_on_arrival=frozenset({self.places.samples}))
            collector = SampleCollector(shared.kafka.address, self.places.samples)
            undo.callback(collector.close)
            progress: JobProgress = collector
            if self.places.hops:
                telling = shared.memory_of(topology.name).telling
                progress = marks = ChainProgress(shared.kafka.address, self.places.marks, self.places.hops, telling)
                undo.callback(marks.close)
            self.generator = GeneratorProcess(
                shared.kafka.address,
                [
                    Target(self.places.sources[name], str(payloads[name]), share)
                    for name, share in topology.source_shares.items()
                ],
                log=shared.run.logs / "generator.log",
            )
            undo.callback(self.generator.stop)
            self._batches = BatchWatch(shared, self._job, self.queries, self.generator.report)
            self._load = OfferedLoad(shared, self._job, self.queries, self.generator, progress)
            self.readiness = Readiness(
                shared, self._job, self.queries, self._batches, self._load, self.generator.report
            )
            self._observations = Observations(shared, self._job, collector, self.generator)
            undo.callback(self.queries.stop)
            with ThreadPoolExecutor(1) as beside:
                generating = beside.submit(self.generator.start)
                beginnings = {topic: dict.fromkeys(range(count), 0) for topic, count in partitions.items()}
                self.queries.start(beginnings, self._load.sample_every)
                self._batches.check_stages()
                generating.result()
            self._undo = undo.pop_all()

    @property
    def latency_up_to(self) -> str | None:
        """The operator that drops `event_time`, up to which latency is measured; None where none does."""
        return self.queries.latency_up_to

    def observe(self, rate_per_s: float, windows: int) -> Iterator[Observation]:
        """Offer the rate, starting with an empty backlog, and yield that many windows as their batches end.

        The batch that runs when the rate is reached counts from then on, where enough of it is left.
        """
        self._require_open()
        self.readiness.make_ready(rate_per_s)
        numbers = self.queries.next_batches()
        with self._load.at(rate_per_s) as throttle_thread:
            self._use()  # from here on
            while windows > 0:
                finished = self._batches.finish(numbers)
                numbers = self._batches.next_after(numbers)
                throttle_thread.require_working()
                observation = self._observations.of(
                    finished,
                    throttle_thread,
                    self._use(),
                    bounded=self._load.bounded,
                    latency_up_to=self.latency_up_to,
                    hidden_python=self._batches.hidden_python,
                )
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

    def _use(self) -> Use:
        return Use() if self._machine is None else self._machine.look()

    def _delete(self) -> None:
        if not self._shared.kafka.ended:  # else nobody answers, and the wait for it would only delay the bad news
            self._shared.topics.delete([*self._job.topics])
        self.queries.delete_checkpoints()
