"""Engines: what a topology runs on. One Protocol, one conformance test class that runs on every engine.

`deploy` starts a configuration, `observe` yields windows as they come, `close` ends it and leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from profiler.job.configuration import Configuration
from profiler.job.topology import Topology

if TYPE_CHECKING:  # a command's help knows engines, and must not wait for what adds up latencies
    from profiler.experiment.observation import Detail, Observation


@dataclass(frozen=True, slots=True)
class Platform:
    """What the engine runs on: the facts a policy may know and the answer's environment names."""

    slots: int
    """Tasks that can run at once; a configuration that needs more does not start."""
    cores: int
    """Cores over all nodes."""
    nodes: int = 1
    versions: dict[str, str] = field(default_factory=dict)
    job_settings: Mapping[str, str] = field(default_factory=dict)
    """Settings that a job must make as this engine does for its answer to hold."""
    python_settings: Mapping[str, str] = field(default_factory=dict)
    """Settings that jobs with Python operators must make beside them."""
    launch_settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of these that a session takes only when it starts."""
    source_options: Mapping[str, str] = field(default_factory=dict)
    """Options that the job's sources must have."""
    sink_options: Mapping[str, str] = field(default_factory=dict)
    """Options that the job's sink must have."""
    master: str = ""
    """The cluster that runs the work, as Spark's `--master` names it; empty where there is none."""
    machine: str = ""
    """The machine that does the work, where that is known: figures of another one can't be compared."""
    loop_s: float | None = None
    """CPU time of the speed index's work at speed 1; None where the index is absolute."""
    session_sd: float = 0.0
    """Standard deviation, of logs, of an unchanged job's CPU per row × speed index from session to session."""
    cold_s: float = 0.0
    """Seconds under load that a new engine needs to come up to its speed: compilers learn, caches fill."""
    side_by_side: bool = False
    """Whether two deployments may run at the same time, and share the machine alike."""
    prefill_keys: int = 0
    """Rows of state that every deployment was filled with before its first window, as far as the data has so many."""


class Deployment(Protocol):
    """One configuration, running."""

    def observe(self, rate_per_s: float, windows: int) -> Iterator[Observation]:
        """Offer the rate (summed over the sources), starting with an empty backlog, and yield that many windows.

        The engine knows nothing of warm-up or validity: it yields every window as it comes, the first included.
        """

    def close(self) -> None:
        """End the deployment; calling it twice is fine, and so is calling it while another thread observes."""


class Engine(Protocol):
    """A place to run topologies."""

    name: str
    window_s: float
    """Length of one window in seconds."""

    @property
    def platform(self) -> Platform:
        """Slots, cores and versions."""

    def measure_speed_by(self, loop_s: float) -> None:
        """Give speed indices relative to this CPU time of the loop from now on, as an earlier session did."""

    def slots_for(self, topology: Topology) -> int:
        """Return the slots that the tasks of this topology may use: all, less what the engine itself needs for it."""

    def deploy(
        self,
        topology: Topology,
        configuration: Configuration,
        detail: Detail,
        *,
        fused: bool = False,
        window_s: float | None = None,
    ) -> Deployment:
        """Start the topology with these tasks; `fused` runs today's job as written, without extra shuffles.

        `window_s` is the length of this deployment's windows where it is not the engine's. Others that are not closed
        go on beside it. Raises ProfileError where the configuration does not fit the slots.
        """

    def close(self) -> None:
        """End everything the engine started."""
