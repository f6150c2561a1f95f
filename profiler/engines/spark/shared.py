"""What the deployments of one engine share."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

from profiler.engines.spark.job_memory import JobMemory
from profiler.engines.spark.jvm.machine_speed import SpeedIndex
from profiler.engines.spark.jvm.session import Session
from profiler.engines.spark.jvm.stages import StageCosts
from profiler.engines.spark.load.topics import Topics
from profiler.services.kafka import Kafka
from profiler.services.run_folder import RunFolder


@dataclass(slots=True)
class Shared:
    """What the deployments of one engine share: what they stand on, and what they have learnt of their jobs."""

    run: RunFolder
    kafka: Kafka
    session: Session
    stages: StageCosts
    topics: Topics
    speed: SpeedIndex
    window_s: float
    production_batch_s: float
    jvm: int | None = None
    """Spark's process; None where the job runs on other machines."""
    prefill_keys: int = 0
    """Rows of state that every deployment is filled with before its first window."""
    starting: threading.Lock = field(default_factory=threading.Lock)
    """Held while a query starts: it takes the session's settings of that moment."""
    ended_checkpoints: list[Path] = field(default_factory=list)
    """Checkpoints of deployments that are closed."""
    memories: dict[str, JobMemory] = field(default_factory=dict)
    """What deployments have learnt of each topology, by its name."""

    def memory_of(self, topology: str) -> JobMemory:
        """Return what is known of a topology, to be read and added to."""
        return self.memories.setdefault(topology, JobMemory())
