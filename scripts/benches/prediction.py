"""Predict a real engine with the simulated one: give it the costs that step 1 measured on the real one.

It takes the CPU per row under stress, as that is what is predicted (a small stream pays for batches
that are hardly filled); waiting per row under the small stream, as a thread that waits for a core does not wait for
itself; rows out per row in. What a hop costs is in there already (a stage pays for its shuffles), so the platform to
predict on has none of its own.

A window is a batch: rows come in for as long as it was meant to last, then it drains, ends, and the next one starts. A
task that only waits stands idle that long (scripts/benches/results/simulator.md).

What shares the machine with the job, broker, generator and the engine's own threads, takes cores and bounds nothing
else. It takes about as much whatever the rate. Only the first round meets compilers that are still at work. So its
stress is predicted with all that was seen beside it, all others with what was seen beside the small stream, which comes
last, less what compilers still took there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.experiment.observation import Measurement, Observation, OperatorWindow, summed_operators
from profiler.job.configuration import Configuration
from profiler.job.topology import Cost, Operator, Output, Topology
from profiler.questions.search.readings.features import Feature, application_features

BESIDE = "broker and generator"
BESIDE_TASKS = 4
LEAST_PER_S = 1e-3
PRECISION = 0.001
LEAST_MS = 1e-6
"""The least milliseconds of CPU per row: an operator that was too cheap to be measured is no free one."""
LEAST_ROWS = 1e-9
"""The least rows out per row in, and out per second: an operator that let nothing through may let something through."""
PULL_PER_S = 1e9
"""Of a source whose costs were measured: its CPU bounds it, nothing else."""


def predicted_per_s(
    topology: Topology, start: Measurement, configuration: Configuration, *, cores: int, window_s: float | None = None
) -> float:
    """Predict the throughput of a configuration on one machine, from the costs that the first round measured.

    `window_s` is how long a window was meant to be: rows come in for so long, and by what it is longer it drained.
    """
    is_start = configuration.tasks == start.configuration.tasks
    beside = _cores_beside(start.windows) if is_start else _cores_beside(start.calm or start.windows, lasting=True)
    measured = _with_measured_costs(topology, start, window_s)
    if beside <= 0:
        return _capacity_per_s(measured, configuration, cores)

    def carries(rate_per_s: float) -> bool:
        shared, tasks = _beside_it(measured, configuration, 1e3 * beside / rate_per_s)
        return _capacity_per_s(shared, tasks, cores) >= rate_per_s

    low, high = LEAST_PER_S, _capacity_per_s(measured, configuration, cores)
    while high / low > 1 + PRECISION:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if carries(middle) else (low, middle)
    return low


def _with_measured_costs(topology: Topology, start: Measurement, window_s: float | None) -> Topology:
    """Return the topology with the costs that this first round saw."""
    elements = application_features(topology, start).elements
    stressed = summed_operators(start.windows)
    pause = 0.0 if window_s is None else max(0.0, start.duration_s / len(start.windows) / window_s - 1)
    costs = {name: _cost(feature, stressed[name], pause) for name, feature in elements.items()}
    sources = [replace(source, cost=costs[source.name], pull_per_s=PULL_PER_S) for source in topology.sources]
    operators = [
        _measured_operator(operator, elements[operator.name], costs[operator.name], start)
        for operator in topology.operators
    ]
    return topology.changed(sources=sources, operators=operators)


def _capacity_per_s(topology: Topology, configuration: Configuration, cores: int) -> float:
    machine = SimulatedPlatform(
        nodes=1,
        cores_per_node=cores,
        slots=configuration.slots,
        hop_cpu_ms=0.0,
        remote_hop_cpu_ms=0.0,
        switching=0.0,
    )
    tasks = np.array([[configuration[name] for name in topology.names]])
    return float(SimulatedEngine(machine).capacities(topology, tasks)[0])


def _beside_it(topology: Topology, configuration: Configuration, cpu_ms: float) -> tuple[Topology, Configuration]:
    """Add one more operator, which takes so much CPU per source row."""
    sources = [source.name for source in topology.sources]
    others = Operator(BESIDE, inputs=sources, cost=Cost(cpu_ms=cpu_ms))
    return (
        topology.changed(operators=[*topology.operators, others]),
        Configuration.of({**configuration.tasks, BESIDE: BESIDE_TASKS}),
    )


def _measured_operator(operator: Operator, feature: Feature, cost: Cost, start: Measurement) -> Operator:
    emits_per_s = None
    if feature.output is Output.LOGIC:
        emits_per_s = max(LEAST_ROWS, (start.operators[operator.name].rows_out or 0.0) / start.duration_s)
    return replace(
        operator,
        function=None,
        cost=cost,
        selectivity=max(LEAST_ROWS, feature.selectivity),
        output=feature.output,
        emits_per_s=emits_per_s,
    )


def _cost(feature: Feature, stressed: OperatorWindow, pause: float) -> Cost:
    """Return what a row costs; the pause after a batch, as a part of the batch, is time in which a task only waits."""
    waited_s = max(0.0, feature.min_latency_s - feature.cpu_s)
    cpu_s = stressed.cpu_s / stressed.rows_in if stressed.rows_in else feature.cpu_s
    waited_s += pause * (cpu_s + waited_s)
    return Cost(cpu_ms=max(LEAST_MS, 1e3 * cpu_s), wait_ms=1e3 * waited_s)


def _cores_beside(windows: Sequence[Observation], *, lasting: bool = False) -> float:
    """Return the cores that others on the machine took, those who will go on; none where the job has its own."""
    used = ((window, window.lasting_cores if lasting else window.cores_used) for window in windows)
    shared = [(window, cores) for window, cores in used if cores is not None]
    duration_s = sum(window.duration_s for window, _ in shared)
    others_s = sum(cores * window.duration_s - window.cpu_s for window, cores in shared)
    return max(0.0, others_s) / duration_s if shared else 0.0
