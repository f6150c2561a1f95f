"""A neighbour on the simulated cluster: it takes cores in bursts, is seen, and slows down what wants its cores."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from simulated_scenarios import chain, tasks

from profiler import Cost, Operator
from profiler.engines.simulated import Preset, SimulatedEngine, SimulatedPlatform
from profiler.engines.simulated.neighbour import Neighbour
from profiler.experiment.disturbed import is_disturbed, undisturbed_per_s
from profiler.experiment.observation import Detail

WORK = chain(Operator("work", cost=Cost(cpu_ms=0.5)))
WAIT = chain(Operator("wait", cost=Cost(cpu_ms=0.01, wait_ms=5.0)))


def windows(topology, count, *, preset=Preset.DISTURBED, deployments=1, workers=4, **platform):
    engine = SimulatedEngine(SimulatedPlatform(first_warm_up_loss=0, warm_up_loss=0, **platform), preset, seed=2)
    configuration = tasks(topology, 1, workers)
    truth = engine.truth(topology, configuration).throughput_per_s
    seen = itertools.chain.from_iterable(
        engine.deploy(topology, configuration, Detail.LIGHT).observe(2 * truth, count) for _ in range(deployments)
    )
    return truth, list(seen)


def means(seen):
    disturbed = [is_disturbed(window) for window in seen]
    rates = np.array([window.throughput_per_s for window in seen])
    return rates[disturbed].mean(), rates[np.logical_not(disturbed)].mean()


def test_it_works_and_rests_in_bursts():
    """A third of the time, a few windows long, and all of what it takes while it works."""
    neighbour = Neighbour(0.5, np.random.default_rng(1))
    taken = [neighbour.taken_cores(start, start + 1.0) for start in range(20_000)]
    assert np.mean(taken) == pytest.approx(0.5 / 3, rel=0.1)
    assert {0.0, 0.5} <= set(taken)
    assert max(taken) == 0.5
    works = [len(list(run)) for working, run in itertools.groupby(each > 0 for each in taken) if working]
    assert 5 <= np.mean(works) <= 15


def test_whoever_asks_in_another_order_is_told_the_same():
    """It knows the clock, not who looks."""
    one, other = (Neighbour(0.5, np.random.default_rng(1)) for _ in range(2))
    late = one.taken_cores(300.0, 330.0)
    early = one.taken_cores(0.0, 30.0)
    assert (other.taken_cores(0.0, 30.0), other.taken_cores(300.0, 330.0)) == (early, late)


def test_a_job_that_is_bound_by_cpu_loses_what_it_takes():
    """Half of a core of two: a quarter of the throughput, in the windows in which it is seen."""
    truth, seen = windows(WORK, 200)
    beside, alone = means(seen)
    assert alone == pytest.approx(truth, rel=0.02)
    assert beside < 0.85 * truth
    assert {window.disturbance.cores for window in seen} == {2}
    assert max(window.disturbance.other_cores for window in seen) == pytest.approx(0.5)


def test_with_what_others_took_a_window_tells_the_truth():
    """A job that is bound by CPU follows its cores one to one."""
    truth, seen = windows(WORK, 300)
    corrected = np.array([undisturbed_per_s(window, 1.0) for window in seen])
    assert corrected.mean() == pytest.approx(truth, rel=0.01)
    assert corrected.std() < 0.5 * np.std([window.throughput_per_s for window in seen])


def test_a_job_that_waits_loses_nothing():
    """Its windows are not called disturbed, and are as they are beside nobody."""
    truth, seen = windows(WAIT, 100)
    assert not any(map(is_disturbed, seen))
    assert np.mean([window.throughput_per_s for window in seen]) == pytest.approx(truth, rel=0.02)


def test_it_is_on_every_node_and_goes_on_over_deployments():
    """It is another program: whatever is deployed or ends, it keeps its own time."""
    _, seen = windows(WORK, 5, deployments=40, nodes=3, workers=9)
    taken = [window.disturbance.other_cores for window in seen]
    assert max(taken) == pytest.approx(1.5)
    assert sum(each > 0 for each in taken[::5]) > 5, "bursts begin anywhere in a deployment"


def test_elsewhere_there_is_none():
    """The other presets are what they were, unless the platform is given one."""
    assert all(window.disturbance is None for window in windows(WORK, 3, preset=Preset.SHARED)[1])
    _, seen = windows(WORK, 60, preset=Preset.SHARED, neighbour_cores=0.8)
    assert max(window.disturbance.other_cores for window in seen) == pytest.approx(0.8)
