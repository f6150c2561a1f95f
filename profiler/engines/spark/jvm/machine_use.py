"""How much of this machine the profile uses as a whole: a local job shares it with its broker and its generator.

Their CPU time is not the job's, and yet it is why more tasks would gain nothing once all cores are busy with them. What
other programs use is not counted: a job that waits is not bound by CPU because a neighbour works.
"""

from __future__ import annotations

import contextlib
import platform as system
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from profiler.engines.spark.jvm.compilers import Compilers
from profiler.engines.spark.jvm.session import machine_cores


@dataclass(frozen=True, slots=True)
class Use:
    """Cores in use; None where the job runs on other machines."""

    cores: float | None = None
    compiling: float | None = None
    """Cores of these that the compilers of Spark's JVM took."""


class MachineUse:
    """Cores in use by this process and all it started, from one look to the next; `jvm` is Spark's process."""

    def __init__(self, jvm: int) -> None:
        self._compilers = Compilers(jvm)
        self._at_s, self._used_s = time.monotonic(), _used_s()

    def look(self) -> Use:
        """Tell what was in use since the last look."""
        return Use(self._cores(), self._compilers.cores())

    def _cores(self) -> float:
        """Of processes that ended meanwhile nothing is known."""
        now_s, used_s = time.monotonic(), _used_s()
        busy = sum(max(0.0, seconds - self._used_s.get(process, 0.0)) for process, seconds in used_s.items())
        passed_s = now_s - self._at_s
        self._at_s, self._used_s = now_s, used_s
        return busy / passed_s if passed_s > 0 else 0.0


def machine_name() -> str:
    """Name the processor and how many of its cores may be used, to tell this machine from others."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not on Linux
        lines = []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return f"{model or system.processor() or system.machine()}, {machine_cores()} cores"


def _used_s() -> dict[psutil.Process, float]:
    """Return the CPU seconds of every process of ours so far."""
    ours = psutil.Process()
    used: dict[psutil.Process, float] = {}
    for process in (ours, *ours.children(recursive=True)):
        with contextlib.suppress(psutil.Error):  # ended meanwhile
            times = process.cpu_times()
            used[process] = times.user + times.system
    return used
