"""How much of this machine the profile uses as a whole, and who else uses it.

A local job shares the machine with its broker and its generator. Their CPU time is not the job's, and yet it is why
more tasks would gain nothing once all cores are busy with them; that holds as well for a broker on this machine that
somebody else started. What other programs use is kept apart: a job that waits is not bound by CPU because a neighbour
works.
"""

from __future__ import annotations

import contextlib
import platform as system
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from profiler.engines.spark.jvm.compilers import Compilers
from profiler.engines.spark.jvm.session import machine_cores
from profiler.engines.spark.jvm.system_counters import SystemCounters, disturbance_between
from profiler.experiment.disturbance import Disturbance

_THIS_MACHINE = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True, slots=True)
class Use:
    """Cores in use; None where the job runs on other machines."""

    cores: float | None = None
    compiling: float | None = None
    """Cores of these that the compilers of Spark's JVM took."""
    disturbance: Disturbance | None = None
    """What else went on meanwhile."""


class MachineUse:
    """Cores in use by this process and all it started, and by others, from one look to the next.

    `jvm` is Spark's process; `paused_s` tells for how long it has stood still so far. What listens on `address` counts
    as if it were started here.
    """

    def __init__(self, jvm: int, paused_s: Callable[[], float | None], address: str = "") -> None:
        self._compilers = Compilers(jvm)
        self._paused_s = paused_s
        self._listeners = listeners(address)
        self._before = self._now()

    def look(self) -> Use:
        """Tell what was in use since the last look."""
        before, now = self._before, self._now()
        self._before = now
        passed_s = now.at_s - before.at_s
        own_s = now.own_s_since(before)
        disturbance = disturbance_between(
            before.system, now.system, passed_s=passed_s, own_s=own_s, cores=machine_cores()
        )
        paused = None if before.paused_s is None or now.paused_s is None else now.paused_s - before.paused_s
        cores = own_s / passed_s if passed_s > 0 else 0.0
        return Use(cores, self._compilers.cores(), replace(disturbance, gc_s=paused))

    def _now(self) -> _Look:
        ours = psutil.Process()
        own_s = _used_s({ours, *ours.children(recursive=True), *self._listeners})
        return _Look(time.monotonic(), own_s, SystemCounters.now(), self._paused_s())


@dataclass(frozen=True, slots=True)
class _Look:
    """All counters at one moment."""

    at_s: float
    own_s: dict[psutil.Process, tuple[float, float]]
    """CPU seconds of every process of ours so far, and those of its children that have ended."""
    system: SystemCounters
    paused_s: float | None

    def own_s_since(self, before: _Look) -> float:
        """Return what ours used since then.

        What ended meanwhile is in the account of its parent, with all that it used before. Where the parent was not
        ours, or did not ask, that is less than what those used that are still there.
        """
        living = sum(
            max(0.0, own - before.own_s.get(process, (0.0, 0.0))[0]) for process, (own, _) in self.own_s.items()
        )
        return max(living, _total(self.own_s) - _total(before.own_s))


def machine_name() -> str:
    """Name the processor and how many of its cores may be used, to tell this machine from others."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not on Linux
        lines = []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return f"{model or system.processor() or system.machine()}, {machine_cores()} cores"


def listeners(address: str) -> tuple[psutil.Process, ...]:
    """Return the programs that listen on an address of this very machine, as far as the system tells."""
    host, _, port = address.partition(",")[0].rpartition(":")
    if host not in _THIS_MACHINE or not port.isdigit():
        return ()
    try:
        connections = psutil.net_connections("tcp")
    except psutil.Error:  # not everybody may ask
        return ()
    listening = (
        each
        for each in connections
        if each.status == psutil.CONN_LISTEN and getattr(each.laddr, "port", None) == int(port)
    )
    found = set()
    for each in listening:
        with contextlib.suppress(psutil.Error):  # ended meanwhile
            found |= {psutil.Process(each.pid)} if each.pid else set()
    return tuple(found)


def _used_s(processes: Iterable[psutil.Process]) -> dict[psutil.Process, tuple[float, float]]:
    used: dict[psutil.Process, tuple[float, float]] = {}
    for process in processes:
        with contextlib.suppress(psutil.Error):  # ended meanwhile
            times = process.cpu_times()
            used[process] = (times.user + times.system, times.children_user + times.children_system)
    return used


def _total(used: dict[psutil.Process, tuple[float, float]]) -> float:
    return sum(own + ended for own, ended in used.values())
