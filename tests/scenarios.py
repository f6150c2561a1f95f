"""Small builders of scenarios: windows, measurements and rounds without an engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from profiler.experiment.observation import Latency, Measurement, Observation, OperatorWindow
from profiler.experiment.rounds import Action, Round, Step, Trial
from profiler.job.configuration import Configuration
from profiler.job.topology import Cost, Operator, Source, Topology

FAST = Latency(mean=20, p50=18, p95=40, p99=60)
SLOW = Latency(mean=800, p50=700, p95=1500, p99=2000)
WAITS = Topology.chain(
    "waits",
    Source("in"),
    Operator("a", cost=Cost(cpu_ms=0.01, wait_ms=2)),
    Operator("b", cost=Cost(cpu_ms=0.01, wait_ms=8)),
    Operator("c", cost=Cost(cpu_ms=0.01, wait_ms=4)),
)
"""A job that waits, in one operator more than in the others."""


def window(
    throughput_per_s: float = 100.0,
    *,
    duration_s: float = 3.0,
    operators: Mapping[str, OperatorWindow] | None = None,
    latency: Latency = FAST,
) -> Observation:
    """Build a window with the given throughput."""
    return Observation(
        start_s=0.0,
        duration_s=duration_s,
        offered_per_s=1.3 * throughput_per_s,
        throughput_per_s=throughput_per_s,
        processing_ms=latency,
        queue_rows=0.0,
        overran=False,
        speed_index=1.0,
        cpu_s=1.0,
        operators=operators or {},
    )


def operator_window(
    *, busy_s: float, tasks: int = 1, rows_in: float = 300.0, rows_out: float = 300.0, cpu_s: float = 0.0
) -> OperatorWindow:
    """Build an operator's part of a window; its tasks work evenly."""
    return OperatorWindow(
        tasks=tasks, rows_in=rows_in, rows_out=rows_out, busy_s=busy_s, cpu_s=cpu_s, busiest_task_s=busy_s / tasks
    )


def outcome(
    tasks: Mapping[str, int],
    throughputs: Sequence[float],
    *,
    number: int = 1,
    operators: Mapping[str, OperatorWindow] | None = None,
    latency: Latency | None = FAST,
    action: Action = Action.START,
    against: int | None = None,
) -> Round:
    """Build a round with these window throughputs."""
    configuration = Configuration.of(tasks)
    measurement = Measurement(
        configuration=configuration,
        offered_per_s=1.3 * max(throughputs),
        windows=tuple(window(value, operators=operators) for value in throughputs),
        latency_ms=latency,
    )
    return Round(number, Trial(configuration, Step.SEARCH, action, against=against), measurement)
