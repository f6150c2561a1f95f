"""Step 1's arithmetic: minimal latency per operator, relative stream sizes, kinds of output, domination.

Everything here is computed from one round with every element at its smallest task count, observed under a small
stream (`calm`) and under stress. With the notation of Liu et al. 2017 (Algorithm 1):

    MinL_i = busy seconds per received row under the small stream (of the rows that stress adds, where that is far less)
    RSS_e  = rows on edge e / rows on all edges
    Load_i = MinL_i · Σ RSS_in(i)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from profiler.errors import ProfileError
from profiler.experiment.observation import Measurement, Observation, OperatorWindow, summed_operators
from profiler.job.topology import Operator, Output, Topology
from profiler.questions.search.readings.cpu_cost import CpuCost, cpu_of_two_rates

FIXED_COSTS = 0.7
"""Costs per row under stress, as part of those under the small stream, from which on the latter are not of its rows."""
GREW = 1.5
"""The factor by which input must grow between the two rates before a kind of output or fixed costs are read off it."""


@dataclass(frozen=True, slots=True)
class Feature:
    """What step 1 learns of one source or operator."""

    min_latency_s: float
    """Busy seconds per received row, uncontended."""
    cpu_s: float
    """CPU seconds per received row."""
    selectivity: float
    """Rows out per row in under the small stream; under stress, where that brought none."""
    busy_s_per_source_row: float
    cpu_s_per_source_row: float
    busy_s_per_s: float
    """Share of one task's time under the small stream."""
    output: Output


@dataclass(frozen=True, slots=True)
class Features:
    """What step 1 learns of the application."""

    elements: Mapping[str, Feature]
    relative_sizes: Mapping[tuple[str, str], float]
    dominated: frozenset[str]
    """Operators whose input does not grow with the load: a logic-dependent operator on every path before them, or no
    row at all."""
    cpu: CpuCost
    """CPU of all that the job's machine does for it."""
    unreached: tuple[str, ...]
    """Elements that no row reached, neither under the small stream nor under stress: nobody knows what they cost."""

    def load(self, topology: Topology, name: str) -> float:
        """Return the task load of an operator, minimal latency times relative input size."""
        operator = topology[name]
        received = sum(self.relative_sizes[(before, name)] for before in operator.inputs)
        return self.elements[name].min_latency_s * received


def application_features(topology: Topology, measurement: Measurement) -> Features:
    """Read the features off the first round."""
    calm = _counted(topology, measurement.calm)
    stressed = _counted(topology, measurement.windows)
    duration_s = sum(window.duration_s for window in measurement.calm)
    source_rows = sum(_known(calm[source.name].rows_out) for source in topology.sources)
    stress_ratio = measurement.duration_s / duration_s
    # Rows under stress for each under the small stream.
    stress_rows = sum(_known(stressed[source.name].rows_out) for source in topology.sources)
    growth = max(stress_rows, 1e-9) / max(source_rows, 1e-9)
    seen = {name: _with_rows(each, stressed[name], growth) for name, each in calm.items()}
    unreached = tuple(name for name, each in seen.items() if not each.rows_in)
    if source_rows <= 0 or {operator.name for operator in topology.operators} <= set(unreached):
        raise ProfileError(
            "No row reached any operator under the small stream.",
            hint="Check that the sources have rows, or observe longer windows (--window 6s).",
        )
    elements = {
        name: _feature(topology, name, each, stressed[name], source_rows, duration_s, stress_ratio)
        for name, each in seen.items()
    }
    rows_on_edges = {(before, after): _known(seen[before].rows_out) for before, after in topology.edges}
    total = sum(rows_on_edges.values())
    dominated = dominated_operators(topology, {name: feature.output for name, feature in elements.items()})
    return Features(
        elements=elements,
        relative_sizes={edge: rows / total for edge, rows in rows_on_edges.items()},
        dominated=dominated.union(operator.name for operator in topology.operators if operator.name in unreached),
        cpu=cpu_of_two_rates(measurement),
        unreached=unreached,
    )


def dominated_operators(topology: Topology, outputs: Mapping[str, Output]) -> frozenset[str]:
    """Find operators all of whose inputs come from logic-dependent or dominated operators.

    Breadth first from the logic-dependent operators, each operator holding the set of its undecided predecessors;
    in downstream order that is one pass.
    """
    dominated: set[str] = set()
    for operator in topology.operators:
        undecided = {
            name for name in operator.inputs if name not in dominated and outputs.get(name) is not Output.LOGIC
        }
        if not undecided:
            dominated.add(operator.name)
    return frozenset(dominated)


def _counted(topology: Topology, windows: Sequence[Observation]) -> dict[str, OperatorWindow]:
    if not windows:
        raise ProfileError("The first round has no windows to read features from.")
    totals = summed_operators(windows)
    missing = [name for name in topology.names if name not in totals or totals[name].rows_in is None]
    if missing:
        raise ProfileError(f"The first round did not count the rows of {', '.join(missing)}.")
    return {name: totals[name] for name in topology.names}


def _with_rows(calm: OperatorWindow, stressed: OperatorWindow, growth: float) -> OperatorWindow:
    """Return what was seen under the small stream; where that brought no rows, its part of what stress brought.

    A branch for the few rows that are broken may get none of so few.
    """
    if calm.rows_in and calm.rows_out:
        return calm
    rows_out = _known(stressed.rows_out) / growth
    if calm.rows_in:
        return replace(calm, rows_out=rows_out)
    return replace(
        calm,
        rows_in=_known(stressed.rows_in) / growth,
        rows_out=rows_out,
        busy_s=stressed.busy_s / growth,
        cpu_s=stressed.cpu_s / growth,
    )


def _feature(
    topology: Topology,
    name: str,
    calm: OperatorWindow,
    stressed: OperatorWindow,
    source_rows: float,
    duration_s: float,
    stress_ratio: float,
) -> Feature:
    element = topology[name]
    declared = element.output if isinstance(element, Operator) else Output.PROPORTIONAL
    rows_in, rows_out = _known(calm.rows_in), _known(calm.rows_out)
    if rows_in <= 0:
        return Feature(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, Output(declared or Output.PROPORTIONAL))
    growth = _known(stressed.rows_in) / rows_in / stress_ratio
    busy_s = _of_rows(calm.busy_s, stressed.busy_s / stress_ratio, growth)
    cpu_s = _of_rows(calm.cpu_s, stressed.cpu_s / stress_ratio, growth)
    return Feature(
        min_latency_s=busy_s / rows_in,
        cpu_s=cpu_s / rows_in,
        selectivity=rows_out / rows_in,
        busy_s_per_source_row=busy_s / source_rows,
        cpu_s_per_source_row=cpu_s / source_rows,
        busy_s_per_s=calm.busy_s / duration_s,
        output=Output(declared) if declared is not None else _measured_output(calm, stressed, stress_ratio),
    )


def _of_rows(calm_s: float, stressed_s: float, growth: float) -> float:
    """Return the cost of the small stream's rows, given what `growth` times as many cost in the same time.

    A task that polls and a batch that ends cost the same for few rows as for many, and would look like a cost of the
    few: where rows are far cheaper under stress, what the further rows cost is their own. Else it is the small
    stream's, as it has no contention.
    """
    if growth < GREW or stressed_s >= FIXED_COSTS * growth * calm_s:
        return calm_s
    return max(0.0, (stressed_s - calm_s) / (growth - 1))


def _measured_output(calm: OperatorWindow, stressed: OperatorWindow, stress_ratio: float) -> Output:
    """Tell the kind of output from two rates: logic-dependent where it stays as it is while the input grows."""
    growth_in = _known(stressed.rows_in) / _known(calm.rows_in) / stress_ratio
    if growth_in < GREW or not calm.rows_out:
        return Output.PROPORTIONAL
    growth_out = _known(stressed.rows_out) / calm.rows_out / stress_ratio
    return Output.LOGIC if growth_out - 1 < 0.25 * (growth_in - 1) else Output.PROPORTIONAL


def _known(rows: float | None) -> float:
    if rows is None:
        raise ProfileError("Rows were not counted.")
    return rows
