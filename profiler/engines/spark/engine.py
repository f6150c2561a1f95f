"""Spark real-time queries behind the engine's protocol."""

from __future__ import annotations

import itertools
import platform as system
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pyspark

from profiler.engines.spark.deployment import SparkDeployment
from profiler.engines.spark.jvm.failures import explained
from profiler.engines.spark.jvm.job_settings import EXCLUDED_RULES, PYTHON, SHUFFLE, SINK, SOURCE
from profiler.engines.spark.jvm.machine_speed import SpeedIndex
from profiler.engines.spark.jvm.machine_use import machine_name
from profiler.engines.spark.jvm.session import Session
from profiler.engines.spark.jvm.stages import StageCosts
from profiler.engines.spark.layout.chains import check_slots, extra_slots, layout
from profiler.engines.spark.load.topics import Topics
from profiler.engines.spark.shared import Shared
from profiler.experiment.engine import Platform
from profiler.experiment.observation import Detail
from profiler.job.configuration import Configuration
from profiler.job.topology import Source, Topology
from profiler.services.kafka import Kafka
from profiler.services.run_folder import RunFolder

SESSION_SD = 0.06
"""The standard deviation of what sessions take per row, relative to their mean, although the index brings them to one
measure (scripts/benches/results/engine.md)."""


class SparkEngine:
    """One Spark session and one broker for any number of deployments, one after the other or side by side.

    `payload_file` finds the workload file that the generator replays for a source. The broker stays the caller's.
    Latencies are weighed as with batches of `production_batch_s`, where that is longer than a window. `settings` go
    before the engine's own; the state of every deployment is first filled with `prefill_keys` of the data's keys. For
    `cold_s` a new session should be loaded before anything counts, as its JVM compiles
    (scripts/benches/results/engine.md).
    """

    name = "spark"

    def __init__(
        self,
        run: RunFolder,
        kafka: Kafka,
        jars: Sequence[Path],
        payload_file: Callable[[Source], Path],
        *,
        window_s: float = 3.0,
        production_batch_s: float = 0.0,
        master: str | None = None,
        settings: Mapping[str, str] | None = None,
        prefill_keys: int = 0,
        cold_s: float = 30.0,
    ) -> None:
        self.window_s = window_s
        self._cold_s = cold_s
        self.payload_file = payload_file
        """Finds the workload file of a source."""
        given = settings or {}
        self._python_settings = {key: given.get(key, value) for key, value in PYTHON.items()}
        self._launch_settings = {key: given.get(key, value) for key, value in SHUFFLE.items()}
        self._job_settings = {key: value for key, value in given.items() if key not in {**PYTHON, **SHUFFLE}}
        self._trials = itertools.count(1)
        self._deployments: list[SparkDeployment] = []
        """The deployments that are open."""
        with ExitStack() as opened:  # what is open is closed again where something after it does not open
            self._speed = opened.enter_context(SpeedIndex())
            self._session = opened.enter_context(closing(Session(run, jars, master=master, settings=settings)))
            self.shared = Shared(
                run,
                kafka,
                self._session,
                StageCosts(self._session.rest_url),
                opened.enter_context(closing(Topics(kafka.address))),
                self._speed,
                window_s,
                production_batch_s,
                jvm=self._session.process if self._session.local else None,
                prefill_keys=prefill_keys,
            )
            """What all deployments stand on."""
            self._opened = opened.pop_all()

    @property
    def platform(self) -> Platform:
        """Slots, cores and versions."""
        versions = {"spark": pyspark.__version__, "python": system.python_version()}
        return Platform(
            self._session.slots,
            self._session.cores,
            self._session.nodes,
            versions,
            job_settings={"spark.sql.optimizer.excludedRules": EXCLUDED_RULES, **self._job_settings},
            python_settings=self._python_settings,
            launch_settings=self._launch_settings,
            source_options=SOURCE,
            sink_options=SINK,
            master="" if self._session.local else self._session.master,
            machine=machine_name() if self._session.local else self._session.master,
            loop_s=self._speed.reference_s,
            session_sd=SESSION_SD,
            cold_s=self._cold_s,
            side_by_side=True,
            prefill_keys=self.shared.prefill_keys,
        )

    def measure_speed_by(self, loop_s: float) -> None:
        """Give speed indices relative to this CPU time of the loop from now on."""
        self._speed.compare_with(loop_s)

    def slots_for(self, topology: Topology) -> int:
        """Return the session's slots, less those of queries that only pass rows on."""
        return self._session.slots - extra_slots(topology)

    def explained(self) -> AbstractContextManager[None]:
        """Tell errors of a block by their cause, where something that the engine stands on is gone."""
        return explained(self.shared.run, self.shared.kafka, self._session)

    @property
    def log(self) -> Path:
        """Spark's log, for errors to point to."""
        return self._session.log

    def deploy(
        self,
        topology: Topology,
        configuration: Configuration,
        detail: Detail,
        *,
        fused: bool = False,
        window_s: float | None = None,
    ) -> SparkDeployment:
        """Start the topology with these tasks; the slots are checked before anything starts."""
        deployed = layout(topology, configuration, fused=fused, apart=detail is not Detail.LIGHT and not fused)
        self._deployments = [each for each in self._deployments if not each.closed]
        check_slots(deployed, self._session.slots - sum(each.layout.slots for each in self._deployments))
        payloads = {source.name: self.payload_file(source) for source in topology.sources}
        deployment = SparkDeployment(
            self.shared if window_s is None else replace(self.shared, window_s=window_s),
            topology,
            configuration,
            deployed,
            detail,
            payloads,
            f"t{next(self._trials)}",
            fused=fused,
        )
        self._deployments.append(deployment)
        return deployment

    def close(self) -> None:
        """End everything the engine started; calling it twice is fine."""
        with self._opened, ExitStack() as closed:  # all of them, also where one can't be closed
            for deployment in self._deployments:
                closed.callback(deployment.close)
