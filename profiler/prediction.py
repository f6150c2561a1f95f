"""Predict a real engine with the simulated one: give it the costs that step 1 measured on the real one.

Of every source and operator: CPU and waiting per row, and rows out per row in, as step 1 saw them. What a hop costs is
in there already (a stage pays for its shuffles), so the platform to predict on has none of its own. What shares the
machine with the job, broker and generator, is one more operator beside it: it takes cores, and bounds nothing else.
"""

from __future__ import annotations

from dataclasses import replace

from profiler.configuration import Configuration
from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.observation import Measurement
from profiler.policies.features import Feature, application_features
from profiler.topology import Cost, Operator, Output, Source, Topology

BESIDE = "broker and generator"
BESIDE_TASKS = 4
LEAST_MS = 1e-6
"""Of CPU per row: one that was too cheap to be measured is no free one."""
PULL_PER_S = 1e9
"""Of a source whose costs were measured: its CPU bounds it, nothing else."""


def predicted_per_s(topology: Topology, start: Measurement, configuration: Configuration, *, cores: int) -> float:
    """Predict the throughput of a configuration on one machine, from the costs that the first round measured."""
    measured = with_measured_costs(topology, start)
    tasks = {**configuration.tasks, **({BESIDE: BESIDE_TASKS} if BESIDE in measured else {})}
    slots = sum(tasks.values())
    machine = SimulatedPlatform(
        nodes=1, cores_per_node=cores, slots=slots, hop_cpu_ms=0.0, remote_hop_cpu_ms=0.0, switching=0.0
    )
    return SimulatedEngine(machine).truth(measured, Configuration.of(tasks)).throughput_per_s


def with_measured_costs(topology: Topology, start: Measurement) -> Topology:
    """Return the topology with the costs that this first round saw, and what worked beside it."""
    elements = application_features(topology, start).elements
    sources = [_measured_source(source, elements[source.name]) for source in topology.sources]
    operators = [_measured_operator(operator, elements[operator.name], start) for operator in topology.operators]
    beside_ms = _beside_ms(start)
    if beside_ms > 0:
        names = [source.name for source in sources]
        operators.append(Operator(BESIDE, inputs=names, cost=Cost(cpu_ms=beside_ms)))
    return Topology(topology.name, sources, operators)


def _measured_source(source: Source, feature: Feature) -> Source:
    return replace(source, cost=_cost(feature), pull_per_s=PULL_PER_S)


def _measured_operator(operator: Operator, feature: Feature, start: Measurement) -> Operator:
    emits_per_s = None
    if feature.output is Output.LOGIC:
        emits_per_s = (start.operators[operator.name].rows_out or 0.0) / start.duration_s
    return replace(
        operator,
        function=None,
        cost=_cost(feature),
        selectivity=feature.selectivity,
        output=feature.output,
        emits_per_s=emits_per_s,
    )


def _cost(feature: Feature) -> Cost:
    waited_s = max(0.0, feature.min_latency_s - feature.cpu_s)
    return Cost(cpu_ms=max(LEAST_MS, 1e3 * feature.cpu_s), wait_ms=1e3 * waited_s)


def _beside_ms(start: Measurement) -> float:
    """Return the CPU milliseconds per source row that others on the machine took; none where the job has its own."""
    shared = [window for window in start.windows if window.cores_used is not None]
    rows = sum(window.source_rows for window in shared)
    others_s = sum((window.cores_used or 0.0) * window.duration_s - window.cpu_s for window in shared)
    return 1e3 * max(0.0, others_s) / rows if rows > 0 else 0.0
