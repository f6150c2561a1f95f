"""One configuration on the simulated cluster: window after window, in simulated time.

A window's capacity is the noise-free one × the machine's noise × what the warm-up leaves. Running at speed v is
running at speed 1 in stretched time: threads at flow x do what they would do at x / v, their service takes 1 / v.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from profiler.engines.simulated.flow import Flow, ThreadState
from profiler.engines.simulated.latency import RowSampler, latency_of
from profiler.engines.simulated.network import Network
from profiler.engines.simulated.noise import NoiseProcess, WindowNoise
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.engines.simulated.queueing import Floats
from profiler.engines.simulated.saturation import Saturation
from profiler.errors import ProfileError, UsageError
from profiler.experiment.latency_rows import as_text
from profiler.experiment.observation import Detail, Observation, OperatorWindow

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
    """What the sources did during one window."""

    duration_s: float
    flow_per_s: float
    saturated: bool
    backlog_rows: float
    """Rows that wait at the end of the window."""


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
    ) -> None:
        self._network, self._flow, self._platform, self._noise, self._rng = network, flow, platform, noise, rng
        self._detail, self._window_s, self._limit_per_s = detail, window_s, offered_limit_per_s
        self._warm_up, self._clock = warm_up, clock
        self._saturation = Saturation.of(network, flow, platform.queue_rows)
        self._sampler = RowSampler(network, flow, float(self._saturation.capacity_per_s.mean()), platform, rng)
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
            noise = self._noise.window()
            speed = noise.throughput_factor * self._warm_up.factor(self._age_s + self._window_s / 2)
            span = self._span(offered_per_s, backlog_rows, speed)
            observation = self._observation(offered_per_s, span, noise, speed)
            backlog_rows = span.backlog_rows
            self._age_s += span.duration_s
            self._clock.now_s += span.duration_s
            self._segment = (self._segment + 1) % len(self._flow.counts)
            yield observation

    def _span(self, offered_per_s: float, backlog_rows: float, speed: float) -> _Span:
        """Let the sources read what there is and what the topology takes; a full pipeline drains after the window."""
        capacity = float(self._saturation.capacity_per_s[self._segment]) * speed
        asked = offered_per_s + backlog_rows / self._window_s
        flow = min(asked, capacity)
        drain_s = 0.0
        if asked > capacity:
            excess_s = (asked / capacity - 1.0) * self._window_s
            drain_s = min(excess_s, float(self._saturation.buffered_s[self._segment]) / speed)
        duration_s = self._window_s + drain_s
        left = max(0.0, backlog_rows + (offered_per_s - flow) * duration_s)
        return _Span(duration_s, flow, asked > capacity, left)

    def _observation(self, offered_per_s: float, span: _Span, noise: WindowNoise, speed: float) -> Observation:
        limit = self._saturation
        state = limit.state if span.saturated else self._flow.state(self._every_case(span.flow_per_s / speed))
        full = limit.full[self._segment] & span.saturated
        rates = self._flow.task_rates(self._every_case(span.flow_per_s))[self._segment]
        # Cores used at speed 1 in this window's time, at this window's cost of a row; warm-up costs CPU per row too.
        used_s = state.cpu[self._segment] * noise.throughput_factor * noise.cpu_factor * span.duration_s
        ends_ms = self._sampler.window(state.busy[self._segment], rates, full)
        rows = span.flow_per_s * span.duration_s
        return Observation(
            start_s=self._clock.now_s,
            duration_s=span.duration_s,
            offered_per_s=offered_per_s,
            throughput_per_s=span.flow_per_s,
            processing_ms=latency_of(ends_ms),
            queue_rows=span.backlog_rows,
            overran=span.duration_s > (1 + _OVERRUN) * self._window_s,
            speed_index=noise.speed_index,
            cpu_s=float((used_s * self._flow.placement.tasks[self._segment]).sum()),
            operators=self._operators(state, used_s, span),
            processing_rows=as_text(ends_ms, np.full(len(ends_ms), rows / len(ends_ms))),
        )

    def _every_case(self, rate_per_s: float) -> Floats:
        return np.full(len(self._flow.counts), rate_per_s)

    def _operators(self, state: ThreadState, used_s: Floats, span: _Span) -> dict[str, OperatorWindow]:
        """Sum over the tasks of every element; what is timed is a sample of rows, so it errs with their number."""
        flow, segment = self._flow, self._segment
        every = self._every_case(span.flow_per_s)
        counted = self._detail is Detail.FULL
        rows_in = flow.rows_in.at(every)[segment] * span.duration_s
        rows_out = flow.rows_out.at(every)[segment] * span.duration_s
        tasks = flow.placement.tasks[segment]
        threads = flow.counts.shape[1]
        present_busy = np.where(tasks > 0, state.busy[segment], 0.0)
        busiest = np.zeros(threads)
        np.maximum.at(busiest, flow.placement.thread_of, present_busy.max(axis=1))
        busy = np.bincount(flow.placement.thread_of, (tasks * present_busy).sum(axis=1), threads)
        cpu_s = np.bincount(flow.placement.thread_of, (tasks * used_s).sum(axis=1), threads)
        error = self._platform.service_spread.cv * self._rng.standard_normal(len(rows_in)) / np.sqrt(rows_in)
        part = state.element_part[segment] * np.clip(1.0 + error, 0.5, 1.5)
        # Nobody is busy for longer than the window lasts, whatever the sample says.
        part_busy = np.minimum(part, state.element_part[segment] / busiest[flow.threads])
        return {
            name: OperatorWindow(
                tasks=int(flow.counts[segment, thread]),
                rows_in=float(rows_in[element]) if counted else None,
                rows_out=float(rows_out[element]) if counted else None,
                busy_s=float(busy[thread] * part_busy[element] * span.duration_s),
                cpu_s=float(cpu_s[thread] * part[element]),
                busiest_task_s=float(busiest[thread] * part_busy[element] * span.duration_s),
                work_s=float(cpu_s[thread] * part[element] * state.own[segment, element]),
                waiting_s=float(state.waiting[segment, element] * span.duration_s),
                hot_key_share=float(key_share) if counted and key_share > 0 else None,
            )
            for element, (name, thread, key_share) in enumerate(
                zip(self._network.names, flow.threads, self._network.key_share, strict=True)
            )
        }
