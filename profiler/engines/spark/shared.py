"""What the deployments of one engine share."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

from profiler.engines.spark.jvm.machine_speed import SpeedIndex
from profiler.engines.spark.jvm.session import Session
from profiler.engines.spark.jvm.stages import StageCosts
from profiler.engines.spark.load.topics import Topics
from profiler.services.kafka import Kafka
from profiler.services.run_folder import RunFolder


@dataclass(slots=True)
class Shared:
    """What the deployments of one engine share."""

    run: RunFolder
    kafka: Kafka
    session: Session
    stages: StageCosts
    topics: Topics
    speed: SpeedIndex
    window_s: float
    production_batch_s: float
    weights: dict[str, dict[str, float]] = field(default_factory=dict)
    """By topology: CPU time per source row of elements, from stages of their own; divides stages they share."""
    capacities: dict[str, float] = field(default_factory=dict)
    """By topology: the rate at which rows came out lately, as a first guess of what another configuration takes."""
    telling: dict[str, frozenset[str]] = field(default_factory=dict)
    """By topology: the queries whose marks tell how far they are."""
    jvm: int | None = None
    """Spark's process; None where the job runs on other machines."""
    prefill_keys: int = 0
    """Rows of state that every deployment is filled with before its first window."""
    starting: threading.Lock = field(default_factory=threading.Lock)
    """Held while a query starts: it takes the session's settings of that moment."""
    ended_checkpoints: list[Path] = field(default_factory=list)
    """Of deployments that are closed."""
