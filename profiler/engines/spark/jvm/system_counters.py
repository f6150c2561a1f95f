"""Counters of the whole machine that only grow: how busy it is, what its host took, what a quota held back, paging.

They tell what a window shared its machine with. Where a system keeps no such account, nothing is told of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import psutil

from profiler.experiment.disturbance import Disturbance

CGROUPS = Path("/sys/fs/cgroup")
_MB = 2**20


@dataclass(frozen=True, slots=True)
class SystemCounters:
    """One look at them."""

    busy_s: float
    """CPU seconds of all programs, on the cores that this process may use."""
    stolen_s: float
    throttled_s: float | None
    paged_out_mb: float | None

    @classmethod
    def now(cls) -> SystemCounters:
        """Look at this machine."""
        busy_s, stolen_s = busy_and_stolen_s(own_cores())
        vmstat = _text(Path("/proc/vmstat"))
        return cls(
            busy_s,
            stolen_s,
            throttled_s(_text(Path("/proc/self/cgroup")), CGROUPS),
            paged_out_mb(vmstat, os.sysconf("SC_PAGE_SIZE")) if vmstat else None,
        )


def disturbance_between(
    before: SystemCounters, after: SystemCounters, *, passed_s: float, own_s: float, cores: int
) -> Disturbance:
    """Tell what others did between two looks; `own_s` is the CPU time of the profile and all it started."""
    return Disturbance(
        cores=cores,
        other_cores=max(0.0, after.busy_s - before.busy_s - own_s) / passed_s if passed_s > 0 else 0.0,
        stolen_cores=max(0.0, after.stolen_s - before.stolen_s) / passed_s if passed_s > 0 else 0.0,
        throttled_s=_grown(before.throttled_s, after.throttled_s),
        paged_out_mb=_grown(before.paged_out_mb, after.paged_out_mb),
    )


def own_cores() -> tuple[int, ...]:
    """Return the numbers of the cores that this process may use."""
    if hasattr(psutil.Process, "cpu_affinity"):
        return tuple(psutil.Process().cpu_affinity())
    return tuple(range(os.cpu_count() or 1))


def busy_and_stolen_s(cores: Iterable[int]) -> tuple[float, float]:
    """Add up the seconds for which these cores worked, and those that their host gave to others."""
    chosen = set(cores)
    times = [each for number, each in enumerate(psutil.cpu_times(percpu=True)) if number in chosen]
    worked = ("user", "nice", "system", "irq", "softirq")
    busy_s = sum(getattr(each, kind, 0.0) for each in times for kind in worked)
    return busy_s, sum(getattr(each, "steal", 0.0) for each in times)


def paged_out_mb(vmstat: str, page_bytes: int) -> float | None:
    """Read from `/proc/vmstat` how much was ever moved from memory to disk."""
    found = re.search(r"^pswpout (\d+)$", vmstat, re.MULTILINE)
    return None if found is None else int(found[1]) * page_bytes / _MB


def throttled_s(membership: str, cgroups: Path) -> float | None:
    """Tell for how long quotas held back the control group that `/proc/self/cgroup` names, or one that it is in.

    None where none of them has a quota.
    """
    found = [_throttled_s(folder) for folder in _groups(membership, cgroups)]
    return max((each for each in found if each is not None), default=None)


def _groups(membership: str, cgroups: Path) -> Iterator[Path]:
    """Yield the folders of the groups that account for CPU: of version 2, which has one tree, and of version 1."""
    for line in membership.splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        within = PurePosixPath(path.lstrip("/"))
        for inner in (within, *within.parents):
            yield cgroups / controllers / inner


def _throttled_s(group: Path) -> float | None:
    """Read one group's account: microseconds in version 2, nanoseconds in version 1."""
    limit = _text(group / "cpu.max") or _text(group / "cpu.cfs_quota_us")
    if not limit or limit.split()[0] in ("max", "-1"):
        return None
    found = re.search(r"^throttled_(usec|time) (\d+)$", _text(group / "cpu.stat"), re.MULTILINE)
    return None if found is None else int(found[2]) / (1e6 if found[1] == "usec" else 1e9)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def _grown(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else max(0.0, after - before)
