"""How much of this machine is in use, by anything: a local job shares it with its broker and its generator.

Their CPU time is not the job's, and yet it is why more tasks would gain nothing once all cores are busy.
"""

from __future__ import annotations

import platform as system
from pathlib import Path

import psutil

from profiler.engines.spark.session import machine_cores


class MachineUse:
    """Cores in use from one look to the next."""

    def __init__(self) -> None:
        self._before = _seconds()

    def cores(self) -> float:
        """Tell how many of this process's cores were in use since the last look; time stolen by others counts."""
        (busy_before, all_before), (busy, all_) = self._before, _seconds()
        self._before = busy, all_
        return machine_cores() * (busy - busy_before) / (all_ - all_before) if all_ > all_before else 0.0


def machine_name() -> str:
    """Name the processor and how many of its cores may be used, to tell this machine from others."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not on Linux
        lines = []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return f"{model or system.processor() or system.machine()}, {machine_cores()} cores"


def _seconds() -> tuple[float, float]:
    """Count the seconds that the cores were busy, and all their seconds."""
    process = psutil.Process()
    ours = set(process.cpu_affinity()) if hasattr(process, "cpu_affinity") else None
    busy = total = 0.0
    for core, times in enumerate(psutil.cpu_times(percpu=True)):
        if ours is None or core in ours:
            idle = times.idle + getattr(times, "iowait", 0.0)
            spent = sum(getattr(times, name, 0.0) for name in ("user", "system", "nice", "irq", "softirq", "steal"))
            busy += spent
            total += spent + idle
    return busy, total
