"""Random DAGs on the simulated engine: every profile ends, fits, keeps the latency and comes near the optimum.

The whole series of 500 is a part of `scripts/bench quality`; this is a small instance of it, by the same code.
"""

from __future__ import annotations

import statistics

import pytest

from profiler.job.loading import load_topology
from scripts.benches import quality
from scripts.benches.optimum import exhaustive_optimum, grid, searched_optimum


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """Look nothing up: what the bench saved earlier is no result of this code."""
    monkeypatch.setattr("scripts.benches.saved.FOLDER", tmp_path)
    quality.saved_results.cache_clear()
    quality.saved_optima.cache_clear()
    yield
    quality.saved_results.cache_clear()
    quality.saved_optima.cache_clear()


@pytest.mark.long
def test_random_dags_end_fit_and_come_near_the_optimum(fresh):
    """2 to 12 operators, fan-in and fan-out, CPU and waiting mixed, some non-parallel, some logic-dependent."""
    results = [quality.run_random(number) for number in range(600, 605)]
    assert all(result.fits for result in results)
    assert all(result.meets_latency for result in results if result.feasible_seen)
    assert statistics.median(result.part for result in results) >= 0.93


@pytest.mark.parametrize("workload", ["linear", "star"])
def test_a_quiet_profile_comes_within_a_tenth_of_the_exhaustive_optimum(fresh, workload):
    """The worst case that the bench allows, on two of its topologies at tight slots."""
    slots = quality.slot_limits(load_topology(workload))[0]
    result = quality.run_case(quality.Case(workload, quality.Preset.QUIET, slots, 1))
    assert 0.9 <= result.part <= 1.0 + 1e-9


def test_the_optimiser_agrees_with_the_grid(fresh):
    """What stands in for the grid on large DAGs finds its optimum on a small one."""
    topology = load_topology("random-dag?seed=5,operators=3")
    engine = quality.SimulatedEngine(quality.SimulatedPlatform(nodes=3, cores_per_node=2, slots=14), seed=1)
    assert searched_optimum(engine, topology, 14) == pytest.approx(exhaustive_optimum(engine, topology, 14), rel=0.01)


def test_the_grid_holds_every_configuration_that_fits():
    """Each row is within the slots, and none is missing or doubled."""
    topology = load_topology("linear")
    rows = grid(topology, 7)
    assert (rows.sum(axis=1) <= 7).all()
    assert len({tuple(row) for row in rows}) == len(rows) == 35
