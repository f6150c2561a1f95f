"""What is measured: one window of a running job, and a measurement: the windows of one configuration.

Throughput is source rows per second, summed over the sources. Processing latency runs from the read at the source
to the sink; what waits before the source is told by the queue. End-to-end latency runs from the time that a message was
due, and is told of windows in which the job followed what it was offered.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from profiler.experiment.disturbance import Disturbance
from profiler.experiment.latency_rows import mean_and_quantiles_ms
from profiler.experiment.quantiles import QUANTILES
from profiler.job.configuration import Configuration
from profiler.statistics.doubt import Doubt


class Detail(StrEnum):
    """How much a deployment is instrumented.

    Light, for decision windows: busy and CPU time per operator, which cost nothing to read. Apart, where a gate names
    operators: the same, and no two of them are run as one. Full, where step 1 needs ratios: rows in and out of every
    operator as well.
    """

    LIGHT = "light"
    APART = "apart"
    FULL = "full"


FOLLOWS = 0.95
"""Part of the offered rows that must come through for a job to have followed."""


@dataclass(frozen=True, slots=True)
class Latency:
    """A latency distribution in milliseconds."""

    mean: float
    p50: float
    p95: float
    p99: float
    p999: float | None = None
    """The latency that one row in a thousand exceeds; of fewer rows the longest one, None in older profiles."""

    @classmethod
    def of_rows(cls, texts: Iterable[str]) -> Latency:
        """Return that of the rows of several windows together (latency_rows.py)."""
        mean, quantiles = mean_and_quantiles_ms(texts, QUANTILES)
        return cls(mean, *quantiles)

    def quantile(self, quantile: float) -> float:
        """Return one of `QUANTILES`; of others, which older profiles may have asked for, the next higher one known."""
        return self._known(quantile)[1]

    def name(self, quantile: float) -> str:
        """Name the one that `quantile` returns."""
        return self._known(quantile)[0]

    def told(self) -> str:
        """Say all that is known of it."""
        rest = "" if self.p999 is None else f", p99.9 {self.p999:,.0f}"
        return f"mean {self.mean:,.0f} ms, p50 {self.p50:,.0f}, p95 {self.p95:,.0f}, p99 {self.p99:,.0f}{rest}"

    def _known(self, quantile: float) -> tuple[str, float]:
        longest = ("p99", self.p99) if self.p999 is None else ("p99.9", self.p999)
        known = (("p50", self.p50), ("p95", self.p95), ("p99", self.p99), longest)
        return next((each for at, each in zip(QUANTILES, known, strict=True) if quantile <= at), longest)


@dataclass(frozen=True, slots=True)
class OperatorWindow:
    """One source or operator during one window; sums over its tasks."""

    tasks: int
    rows_in: float | None
    """Rows that came in; None where the level of detail did not count them."""
    rows_out: float | None
    busy_s: float
    """Seconds spent working on rows, waiting inside the operator included, summed over tasks."""
    cpu_s: float
    busiest_task_s: float
    """Busy seconds of the busiest task: compared with the mean it betrays a hot key."""
    work_s: float | None = None
    """CPU seconds of the operator's own code; what is left of `cpu_s` hands rows over. None where they are one."""
    waiting_s: float | None = None
    """Busy seconds in which the operator did not work; with full detail those are left out in which it waited for a
    core. None where nobody looked."""
    state_rows: float | None = None
    """Rows of state it kept at the end of the window; None where it keeps none."""
    hot_key: str | None = None
    """The most frequent value of its key; None where it was not counted, or has no name."""
    hot_key_share: float | None = None
    """Part of its rows that have that value; None where it was not counted."""
    hides_python: bool = False
    """Whether Python that was not declared runs in it, or in one beside it: its waiting is in no figure."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One window of a running job."""

    start_s: float
    duration_s: float
    offered_per_s: float
    throughput_per_s: float
    processing_ms: Latency
    queue_rows: float
    """Rows waiting before the source at the end of the window."""
    overran: bool
    """Whether the batch ran clearly longer than its trigger, as buffers drained."""
    speed_index: float
    """Speed of the machine during the window by a small fixed piece of work; 1 is normal, 0.8 is a fifth slower."""
    cpu_s: float
    """CPU seconds of the job."""
    cores_used: float | None = None
    """Cores in use by the job and by what shares its machine, broker and generator; None where it has its own."""
    compiling_cores: float | None = None
    """Cores of these that compilers of the engine took, which end by themselves; None where nobody counts them."""
    generator_limited: bool = False
    """Whether fewer rows came than were offered, and not because the job had taken all cores."""
    operators: Mapping[str, OperatorWindow] = field(default_factory=dict)
    """Sources and operators by name."""
    disturbance: Disturbance | None = None
    """What else went on on the machine; None where nobody looked, or the job runs on other machines."""
    processing_rows: str | None = None
    """The rows' processing latencies as a text (latency_rows.py); None where they were not kept."""
    end_to_end_rows: str | None = None
    """Their end-to-end latencies, likewise; under stress they only tell for how long the queue has been growing."""

    @property
    def machine_speed(self) -> float:
        """Speed of the part of the machine that others left to the job: what it can do there is proportional to it."""
        return self.speed_index * self.part_left

    @property
    def part_left(self) -> float:
        """Part of the machine's cores that others left; all of them where nobody looked."""
        return 1.0 if self.disturbance is None else self.disturbance.part_left

    @property
    def lasting_cores(self) -> float | None:
        """Cores in use, compilers left out; None where the job has its own machine."""
        return None if self.cores_used is None else max(0.0, self.cores_used - (self.compiling_cores or 0.0))

    @property
    def source_rows(self) -> float:
        """Rows that entered the topology."""
        return self.throughput_per_s * self.duration_s

    @property
    def offered_rows(self) -> float:
        """Rows that were offered to it."""
        return self.offered_per_s * self.duration_s


@dataclass(frozen=True, slots=True)
class BlockWindows:
    """One block of an interleaved measurement: one deployment of one arm."""

    arm: int
    windows: tuple[Observation, ...]
    """The windows under stress."""
    probe: tuple[Observation, ...] = ()
    """The windows at a rate that all arms can follow, where the latency was asked for."""


class _Sums:
    """Figures that a measurement works out once, when they are first asked for; not compared, copied or stored."""

    __slots__ = ("_operators",)
    _operators: Mapping[str, OperatorWindow]


@dataclass(frozen=True, slots=True)
class Measurement(_Sums):
    """The valid windows of one configuration, and what makes them doubtful."""

    configuration: Configuration
    offered_per_s: float
    windows: tuple[Observation, ...]
    """The windows at the load that the trial asked for: stress, or the throttled rate."""
    calm: tuple[Observation, ...] = ()
    """The windows at a small stream, where the trial asked for application features."""
    latency_ms: Latency | None = None
    """Processing latency of the probe at 90 % of the throughput; None where there was no probe, or no row told it."""
    latency_at_per_s: float | None = None
    """Rate of that probe, None without one: lower than 90 % where the machine had become slower meanwhile."""
    kept_per_s: float | None = None
    """Highest rate probed that kept the latency constraint; None where none did, or nothing was probed."""
    end_to_end_ms: Latency | None = None
    """End-to-end latency of that probe; None where it was not measured."""
    doubts: tuple[Doubt, ...] = ()
    left_out: tuple[Observation, ...] = ()
    """Windows under the same load that were disturbed, and in whose place others count."""

    def __post_init__(self) -> None:
        """Refuse what no round was: nothing can be said of it."""
        if not self.windows:
            raise ValueError("a measurement without windows")

    @property
    def latency_unknown(self) -> bool:
        """Tell whether it was probed and no row told its latency, as hardly any comes out of the job."""
        return self.latency_ms is None and self.latency_at_per_s is not None

    @property
    def throughputs(self) -> tuple[float, ...]:
        """Throughput of every window, rows per second."""
        return tuple(window.throughput_per_s for window in self.windows)

    @property
    def throughput_per_s(self) -> float:
        """Mean throughput over the windows."""
        return statistics.fmean(self.throughputs)

    @property
    def duration_s(self) -> float:
        """Seconds observed."""
        return sum(window.duration_s for window in self.windows)

    @property
    def source_rows(self) -> float:
        """Rows that entered the topology while it was observed."""
        return sum(window.source_rows for window in self.windows)

    @property
    def operators(self) -> Mapping[str, OperatorWindow]:
        """Sums over the windows per source and operator."""
        if not hasattr(self, "_operators"):
            object.__setattr__(self, "_operators", MappingProxyType(summed_operators(self.windows)))
        return self._operators


def summed_operators(windows: Sequence[Observation]) -> dict[str, OperatorWindow]:
    """Add up what every source and operator did over the windows; rows stay None where any window lacks them."""
    totals: dict[str, OperatorWindow] = {}
    for window in windows:
        for name, seen in window.operators.items():
            past = totals.get(name)
            totals[name] = seen if past is None else _added(past, seen)
    return totals


def _added(past: OperatorWindow, seen: OperatorWindow) -> OperatorWindow:
    return OperatorWindow(
        tasks=seen.tasks,
        rows_in=_sum_if_known(past.rows_in, seen.rows_in),
        rows_out=_sum_if_known(past.rows_out, seen.rows_out),
        busy_s=past.busy_s + seen.busy_s,
        cpu_s=past.cpu_s + seen.cpu_s,
        busiest_task_s=past.busiest_task_s + seen.busiest_task_s,
        work_s=_sum_if_known(past.work_s, seen.work_s),
        waiting_s=_sum_if_known(past.waiting_s, seen.waiting_s),
        state_rows=seen.state_rows,
        hot_key=seen.hot_key,
        hot_key_share=seen.hot_key_share,
        hides_python=seen.hides_python,
    )


def _sum_if_known(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def generator_limits(windows: Sequence[Observation]) -> bool:
    """Tell whether the generator is what limited the windows: most of them, as one that stalled is no limit."""
    return sum(window.generator_limited for window in windows) > len(windows) / 2


def typical_latency(windows: Sequence[Observation]) -> Latency | None:
    """Return the processing latency of all rows of the windows together: a stalled window counts by its rows.

    Of windows whose rows were not kept it is the median window's, quantile by quantile. None where no window has a
    latency, as no sampled row came out.
    """
    seen = [window for window in windows if math.isfinite(window.processing_ms.mean)]
    rows = [window.processing_rows for window in seen if window.processing_rows is not None]
    if not seen:
        return None
    if len(rows) == len(seen):
        return Latency.of_rows(rows)
    told = [window.processing_ms for window in seen]
    thousandths = [latency.p999 for latency in told if latency.p999 is not None]
    return Latency(
        mean=statistics.median(latency.mean for latency in told),
        p50=statistics.median(latency.p50 for latency in told),
        p95=statistics.median(latency.p95 for latency in told),
        p99=statistics.median(latency.p99 for latency in told),
        p999=statistics.median(thousandths) if len(thousandths) == len(told) else None,
    )


def end_to_end_latency(windows: Sequence[Observation]) -> Latency | None:
    """Return the end-to-end latency of all rows of the windows together.

    None where no window tells it, or where the job did not follow: it then is for how long the queue has been growing.
    """
    rows = [window.end_to_end_rows for window in windows if window.end_to_end_rows is not None]
    followed = sum(each.source_rows for each in windows) >= FOLLOWS * sum(each.offered_rows for each in windows)
    return Latency.of_rows(rows) if rows and followed else None


HOT_KEY = 1.5
"""The factor of the busiest task over the mean from which on a hot key is named: more tasks do not cure it."""


def hot_keys(operators: Mapping[str, OperatorWindow], keyed: Container[str]) -> dict[str, float]:
    """Return the keyed operators whose busiest task works far more than the mean, with that ratio.

    Others are dealt their rows evenly: where one of their tasks works more, that is chance or a machine that is busier
    than the next one, which is no key's doing, and keyed operators have their share of it as well.
    """
    ratios = {
        name: seen.busiest_task_s * seen.tasks / seen.busy_s
        for name, seen in operators.items()
        if seen.tasks > 1 and seen.busy_s > 0
    }
    uneven = [ratio for name, ratio in ratios.items() if name not in keyed]
    usual = max(1.0, statistics.median(uneven)) if uneven else 1.0
    return {name: ratio for name, ratio in ratios.items() if name in keyed and ratio > HOT_KEY * usual}
