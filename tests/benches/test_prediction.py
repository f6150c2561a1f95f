"""Costs that one engine measured make another one like it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.experiment.measure import Load, measure
from profiler.experiment.observation import Detail
from profiler.experiment.window_plan import WindowPlan
from profiler.job.configuration import Configuration
from profiler.job.loading import load_topology
from profiler.job.topology import Cost, Operator, Source, Topology
from scripts.benches.prediction import predicted_per_s

FREE_HOPS = SimulatedPlatform(cores_per_node=4, slots=40, hop_cpu_ms=0.0, remote_hop_cpu_ms=0.0, switching=0.0)


def started(topology: Topology, platform: SimulatedPlatform = FREE_HOPS):
    """Measure one task each, as a search begins."""
    load = Load(Configuration.of(dict.fromkeys(topology.names, 1)), Detail.FULL, calm=True)
    return measure(SimulatedEngine(platform, seed=1), topology, load, WindowPlan())


@pytest.mark.parametrize("name", ["linear", "diamond", "star", "word-count"])
def test_what_was_measured_of_one_task_each_predicts_other_tasks(name):
    """The truth of the measured engine is known here: the prediction comes near it."""
    topology = load_topology(name)
    start = started(topology)
    for tasks in (1, 3):
        configuration = Configuration.of(
            {each.name: tasks if each.parallel else 1 for each in (topology[name] for name in topology.names)}
        )
        truth = SimulatedEngine(FREE_HOPS).truth(topology, configuration).throughput_per_s
        pulled = min(truth, 20_000.0 * tasks * len(topology.sources))
        assert predicted_per_s(topology, start, configuration, cores=4) == pytest.approx(pulled, rel=0.1)


def beside(windows, cores):
    """Have others take so many cores during these windows."""
    return tuple(replace(window, cores_used=cores + window.cpu_s / window.duration_s) for window in windows)


def test_what_works_beside_the_job_takes_cores_from_it():
    """One of two cores used by a broker leaves the job half of its throughput, where cores are the limit."""
    topology = load_topology("linear")
    start = started(topology)
    many = Configuration.of(dict.fromkeys(topology.names, 4))
    alone = predicted_per_s(topology, start, many, cores=2)
    shared = replace(start, windows=beside(start.windows, 1.0), calm=beside(start.calm, 1.0))
    assert predicted_per_s(topology, shared, many, cores=2) == pytest.approx(alone / 2, rel=0.1)


def test_compilers_beside_the_first_round_are_gone_in_later_ones():
    """The start meets what was seen under stress, every other configuration what the small stream after it met."""
    topology = load_topology("linear")
    start = started(topology)
    many = Configuration.of(dict.fromkeys(topology.names, 4))
    compiling = replace(start, windows=beside(start.windows, 1.5), calm=beside(start.calm, 0.0))
    assert predicted_per_s(topology, compiling, many, cores=2) == pytest.approx(
        predicted_per_s(topology, start, many, cores=2)
    )
    of_start = start.configuration
    assert predicted_per_s(topology, compiling, of_start, cores=2) < 0.7 * predicted_per_s(
        topology, start, of_start, cores=2
    )


def test_compilers_that_are_still_seen_in_the_small_stream_are_left_out():
    """Half a core of them there is nothing that another configuration will meet; the start did."""
    topology = load_topology("linear")
    start = started(topology)
    many = Configuration.of(dict.fromkeys(topology.names, 4))

    def compiled_by(cores):
        windows, calm = beside(start.windows, 1.0), beside(start.calm, 1.0)
        return replace(
            start,
            windows=tuple(replace(each, compiling_cores=cores) for each in windows),
            calm=tuple(replace(each, compiling_cores=cores) for each in calm),
        )

    without, half = compiled_by(0.0), compiled_by(0.5)
    assert predicted_per_s(topology, half, many, cores=2) == pytest.approx(
        1.5 * predicted_per_s(topology, without, many, cores=2), rel=0.1
    )
    of_start = start.configuration
    assert predicted_per_s(topology, half, of_start, cores=2) == predicted_per_s(topology, without, of_start, cores=2)


def test_a_task_stands_idle_while_its_batch_drains():
    """Batches that take a fifth longer than meant cost a waiting job a sixth of its throughput."""
    topology = load_topology("synthetic-word-count")
    start = started(topology)
    longer = replace(start, windows=tuple(replace(window, duration_s=1.2 * 3.0) for window in start.windows))
    at_once = predicted_per_s(topology, longer, start.configuration, cores=4)
    draining = predicted_per_s(topology, longer, start.configuration, cores=4, window_s=3.0)
    assert draining == pytest.approx(at_once / 1.2, rel=0.02)


def test_an_operator_that_no_row_reached_bounds_nothing():
    """What lets nothing through here may let something through elsewhere: no division by what was not seen."""
    topology = Topology.chain("dead", Source("in"), Operator("work", cost=Cost(cpu_ms=1)), Operator("dead"))
    costs = topology.changed(operators=[topology["work"], replace(topology["dead"], cost=Cost(cpu_ms=0.01))])
    start = started(costs)
    nothing = replace(start.operators["dead"], rows_in=0.0, rows_out=0.0, busy_s=0.0, cpu_s=0.0, busiest_task_s=0.0)
    let_through = {
        phase: tuple(
            replace(
                window,
                operators={
                    **window.operators,
                    "work": replace(window.operators["work"], rows_out=0.0),
                    "dead": nothing,
                },
            )
            for window in getattr(start, phase)
        )
        for phase in ("windows", "calm")
    }
    one_each = Configuration.of(dict.fromkeys(topology.names, 1))
    assert predicted_per_s(topology, replace(start, **let_through), one_each, cores=4) == pytest.approx(1000, rel=0.1)
