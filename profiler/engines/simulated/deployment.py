"""One configuration on the simulated cluster: window after window, in simulated time.

A window is a row of ticks of about three seconds, as the machine and the data change in time, whatever the length of
windows: what one tick can't take, the next ones work off. A tick's capacity is the noise-free one × the machine's noise
× what the warm-up leaves. Running at speed v is running at speed 1 in stretched time: threads at flow x do what they
would do at x / v, their service takes 1 / v.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from profiler.engines.simulated.batching import Batching
from profiler.engines.simulated.flow import Flow, ThreadState
from profiler.engines.simulated.latency import RowSampler, latency_of
from profiler.engines.simulated.neighbour import Neighbour
from profiler.engines.simulated.network import Network
from profiler.engines.simulated.noise import NoiseProcess, WindowNoise
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.engines.simulated.saturation import Saturation
from profiler.errors import ProfileError, UsageError
from profiler.experiment.disturbance import Disturbance
from profiler.experiment.latency_rows import Floats, as_text
from profiler.experiment.observation import Detail, Observation, OperatorWindow, summed_operators

_OVERRUN = 0.15
"""A batch that drains longer than this part of its window has overrun."""


@dataclass(slots=True)
class Clock:
    """Simulated time of an engine."""

    now_s: float = 0.0


@dataclass(frozen=True, slots=True)
class WarmUp:
    """The part of the capacity that a deployment lacks at its start, and the time in which it falls to a third."""

    loss: float
    time_s: float

    def factor(self, age_s: float) -> float:
        """Return the part of the capacity that is there at this age."""
        return 1.0 - self.loss * math.exp(-age_s / self.time_s)


@dataclass(frozen=True, slots=True)
class _Span:
    """What the sources did during one tick."""

    duration_s: float
    reading_s: float
    """Time of these in which the sources read."""
    flow_per_s: float
    """Rows per second of that time."""
    saturated: bool
    backlog_rows: float
    """Rows that wait at the end of the tick."""
    batches: int
    """Batches that began with it: what every task takes whatever its rows is taken that often."""


@dataclass(frozen=True, slots=True)
class _Tick:
    """One tick: what is seen of it, and the latency of sampled rows."""

    seen: Observation
    rows_ms: Floats


class SimulatedDeployment:
    """A running configuration: a `profiler.experiment.engine.Deployment`. Its flow has a case per data segment."""

    def __init__(
        self,
        network: Network,
        flow: Flow,
        platform: SimulatedPlatform,
        noise: NoiseProcess,
        rng: np.random.Generator,
        *,
        detail: Detail,
        window_s: float,
        offered_limit_per_s: float | None,
        warm_up: WarmUp,
        clock: Clock,
        neighbour: Neighbour | None,
    ) -> None:
        self._network, self._flow, self._platform, self._noise, self._rng = network, flow, platform, noise, rng
        self._detail, self._window_s, self._limit_per_s = detail, window_s, offered_limit_per_s
        self._batching = Batching.of(platform, flow, window_s)
        self._warm_up, self._neighbour = warm_up, neighbour
        self.clock = clock
        """The time that its windows pass; deployments of one engine share it."""
        self._limits: dict[float, tuple[Flow, Saturation]] = {}
        """What the cores that a neighbour leaves make of the flow, by those that it takes."""
        _, alone = self._beside(0.0)
        self._sampler = RowSampler(network, flow, float(alone.capacity_per_s.mean()), platform, rng)
        self._segment = int(rng.integers(len(flow.counts)))
        self._age_s = 0.0
        self._closed = False

    def observe(self, rate_per_s: float, windows: int) -> Iterator[Observation]:
        """Offer the rate, starting with an empty backlog, and yield that many windows."""
        if not rate_per_s > 0:
            raise UsageError(f"A rate of {rate_per_s:g} rows/s was offered.", hint="Offer a positive rate.")
        self._check_open()
        return self._windows(rate_per_s if self._limit_per_s is None else min(rate_per_s, self._limit_per_s), windows)

    def close(self) -> None:
        """End the deployment."""
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise ProfileError("The deployment is closed.", hint="Deploy the configuration again.")

    def _windows(self, offered_per_s: float, windows: int) -> Iterator[Observation]:
        backlog_rows = 0.0
        for _ in range(windows):
            self._check_open()
            ticks: list[_Tick] = []
            for number in range(self._batching.ticks):
                ticks.append(self._tick(number, offered_per_s, backlog_rows))
                backlog_rows = ticks[-1].seen.queue_rows
            yield self._window(ticks)

    def _tick(self, number: int, offered_per_s: float, backlog_rows: float) -> _Tick:
        noise = self._noise.window()
        speed = noise.throughput_factor * self._warm_up.factor(self._age_s + self._batching.tick_s / 2)
        taken_cores = self._taken_cores()
        flow, limit = self._beside(taken_cores)
        span = self._span(number, offered_per_s, backlog_rows, speed, limit)
        tick = self._seen(offered_per_s, span, noise, speed, flow, limit)
        if self._neighbour is not None:
            tick = replace(tick, seen=replace(tick.seen, disturbance=self._disturbance(taken_cores)))
        self._age_s += span.duration_s
        self.clock.now_s += span.duration_s
        self._segment = (self._segment + 1) % len(self._flow.counts)
        return tick

    def _taken_cores(self) -> float:
        if self._neighbour is None:
            return 0.0
        return self._neighbour.taken_cores(self.clock.now_s, self.clock.now_s + self._batching.tick_s)

    def _disturbance(self, taken_cores: float) -> Disturbance:
        size = self._platform
        return Disturbance(cores=size.cores, other_cores=size.nodes * taken_cores)

    def _beside(self, taken_cores: float) -> tuple[Flow, Saturation]:
        """Return the flow and its limit beside a neighbour; a hundredth of a core more or less is the same."""
        level = round(taken_cores, 2)
        if level not in self._limits:
            flow = self._flow.beside(level) if level else self._flow
            self._limits[level] = flow, Saturation.of(self._network, flow, self._platform.queue_rows)
        return self._limits[level]

    def _window(self, ticks: Sequence[_Tick]) -> Observation:
        """Put a window together; of its rows, every tick has its part of those that are sampled."""
        seen = [tick.seen for tick in ticks]
        most = max(each.source_rows for each in seen)
        rows_ms = [tick.rows_ms[: math.ceil(len(tick.rows_ms) * tick.seen.source_rows / most)] for tick in ticks]
        together_ms, rows = np.concatenate(rows_ms), math.fsum(each.source_rows for each in seen)
        duration_s = math.fsum(each.duration_s for each in seen)
        whole = replace(
            seen[0],
            duration_s=duration_s,
            processing_ms=latency_of(together_ms),
            processing_rows=as_text(together_ms, np.full(len(together_ms), rows / len(together_ms))),
            queue_rows=seen[-1].queue_rows,
            overran=duration_s > (1 + _OVERRUN) * self._window_s,
        )
        if len(seen) == 1:
            return whole
        return replace(
            whole,
            throughput_per_s=rows / duration_s,
            speed_index=statistics.fmean(each.speed_index for each in seen),
            cpu_s=math.fsum(each.cpu_s for each in seen),
            operators=summed_operators(seen),
            disturbance=_disturbance_of(seen),
        )

    def _span(self, tick: int, offered_per_s: float, backlog_rows: float, speed: float, limit: Saturation) -> _Span:
        """Let the sources read what they can; as the batch ends, a full pipeline drains."""
        capacity = float(limit.capacity_per_s[self._segment]) * speed
        read = self._batching.read(tick, offered_per_s, backlog_rows, capacity)
        drain_s = 0.0
        if tick == self._batching.ticks - 1:
            drain_s = min(read.excess_s, float(limit.buffered_s[self._segment]) / speed)
        pause_s, reading_s = self._batching.tick_s - read.reading_s, read.reading_s + drain_s
        left = max(0.0, backlog_rows + offered_per_s * pause_s + (offered_per_s - read.flow_per_s) * reading_s)
        return _Span(
            duration_s=self._batching.tick_s + drain_s,
            reading_s=reading_s,
            flow_per_s=read.flow_per_s,
            saturated=read.saturated,
            backlog_rows=left,
            batches=1 if tick == 0 else 0,
        )

    def _seen(
        self, offered_per_s: float, span: _Span, noise: WindowNoise, speed: float, flow: Flow, limit: Saturation
    ) -> _Tick:
        state = limit.state if span.saturated else flow.state(self._every_case(span.flow_per_s / speed))
        full = limit.full[self._segment] & span.saturated
        rates = self._flow.task_rates(self._every_case(span.flow_per_s))[self._segment]
        # Cores used at speed 1 in this tick's time, at this tick's cost of a row; warm-up costs CPU per row too.
        used_s = state.cpu[self._segment] * noise.throughput_factor * noise.cpu_factor * span.reading_s
        fixed_s = span.batches * self._platform.batch_cpu_ms / 1000 * noise.cpu_factor
        rows_ms = self._sampler.rows_ms(state.busy[self._segment], rates, full)
        seen = Observation(
            start_s=self.clock.now_s,
            duration_s=span.duration_s,
            offered_per_s=offered_per_s,
            throughput_per_s=span.flow_per_s * (span.reading_s / span.duration_s),
            processing_ms=latency_of(rows_ms),
            queue_rows=span.backlog_rows,
            overran=False,
            speed_index=noise.speed_index,
            cpu_s=float(((used_s + fixed_s) * self._flow.placement.tasks[self._segment]).sum()),
            operators=self._operators(state, used_s, fixed_s, span),
        )
        return _Tick(seen, rows_ms)

    def _every_case(self, rate_per_s: float) -> Floats:
        return np.full(len(self._flow.counts), rate_per_s)

    def _operators(self, state: ThreadState, used_s: Floats, fixed_s: float, span: _Span) -> dict[str, OperatorWindow]:
        """Sum over the tasks of every element; what is timed is a sample of rows, so it errs with their number.

        What a task takes per batch nobody can tell from what its rows take.
        """
        flow, segment = self._flow, self._segment
        every = self._every_case(span.flow_per_s)
        counted = self._detail is Detail.FULL
        rows_in = flow.rows_in.at(every)[segment] * span.reading_s
        rows_out = flow.rows_out.at(every)[segment] * span.reading_s
        tasks = flow.placement.tasks[segment]
        threads = flow.counts.shape[1]
        present_busy = np.where(tasks > 0, state.busy[segment], 0.0)
        busiest = np.zeros(threads)
        np.maximum.at(busiest, flow.placement.thread_of, present_busy.max(axis=1))
        busy = np.bincount(flow.placement.thread_of, (tasks * present_busy).sum(axis=1), threads)
        running = flow.counts[segment]
        cpu_s = np.bincount(flow.placement.thread_of, (tasks * used_s).sum(axis=1), threads)
        error = self._platform.service_spread.cv * self._rng.standard_normal(len(rows_in)) / np.sqrt(rows_in)
        part = state.element_part[segment] * np.clip(1.0 + error, 0.5, 1.5)
        # Nobody is busy for longer than the window lasts, whatever the sample says.
        part_busy = np.minimum(part, state.element_part[segment] / busiest[flow.threads])
        fixed_wait_s = span.batches * self._platform.batch_wait_ms / 1000
        fixed_busy_s = min(span.batches * self._platform.batch_cpu_ms / 1000 + fixed_wait_s, self._batching.pause_s)
        fixed_part = state.element_part[segment]
        return {
            name: OperatorWindow(
                tasks=int(flow.counts[segment, thread]),
                rows_in=float(rows_in[element]) if counted else None,
                rows_out=float(rows_out[element]) if counted else None,
                busy_s=float(
                    busy[thread] * part_busy[element] * span.reading_s
                    + running[thread] * fixed_part[element] * fixed_busy_s
                ),
                cpu_s=float(cpu_s[thread] * part[element] + running[thread] * fixed_part[element] * fixed_s),
                busiest_task_s=float(
                    busiest[thread] * part_busy[element] * span.reading_s + fixed_part[element] * fixed_busy_s
                ),
                work_s=float(
                    cpu_s[thread] * part[element] * state.own[segment, element]
                    + running[thread] * fixed_part[element] * fixed_s
                ),
                waiting_s=float(
                    state.waiting[segment, element] * span.reading_s
                    + running[thread] * fixed_part[element] * fixed_wait_s
                ),
                hot_key_share=float(key_share) if counted and key_share > 0 else None,
            )
            for element, (name, thread, key_share) in enumerate(
                zip(self._network.names, flow.threads, self._network.key_share, strict=True)
            )
        }


def _disturbance_of(seen: Sequence[Observation]) -> Disturbance | None:
    """Return what a neighbour took over all ticks of a window, on average."""
    told = [each.disturbance for each in seen if each.disturbance is not None]
    return replace(told[0], other_cores=statistics.fmean(each.other_cores for each in told)) if told else None
