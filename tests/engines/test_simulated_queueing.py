"""The simulator's own queue, against queueing theory and against the recursion written as a loop."""

import numpy as np
import pytest
from simulated_scenarios import chain, tasks

from profiler import Cost, Operator
from profiler.engines.simulated import SimulatedEngine, SimulatedPlatform
from profiler.engines.simulated.queueing import Spread, queue_waits


def _waits(spread: Spread, load: float, rows: int = 1_000_000) -> np.ndarray:
    """Waits in units of the mean service, for Poisson arrivals; the first tenth, still filling up, is left out."""
    rng = np.random.default_rng(5)
    services = spread.draw(rng, (1, rows))
    gaps = rng.standard_exponential((1, rows)) / load
    waits, _ = queue_waits(gaps, services, np.zeros(1), np.full(1, np.inf))
    return waits[0, rows // 10 :]


@pytest.mark.parametrize("load", [0.3, 0.5, 0.7, 0.85])
def test_poisson_arrivals_and_exponential_service_wait_as_in_mm1(load):
    """M/M/1: a row waits load / (1 - load) services, and not at all with probability 1 - load."""
    waits = _waits(Spread.EXPONENTIAL, load)
    assert waits.mean() == pytest.approx(load / (1 - load), rel=0.05)
    assert (waits == 0).mean() == pytest.approx(1 - load, rel=0.05)


@pytest.mark.parametrize("spread", list(Spread))
def test_waits_follow_pollaczek_and_khinchine(spread):
    """M/G/1: less varied service waits less, by (1 + cv²) / 2."""
    assert _waits(spread, 0.7).mean() == pytest.approx(0.7 / 0.3 * (1 + spread.cv**2) / 2, rel=0.05)


def test_whole_path_of_one_task_is_an_mm1_queue():
    """Through placement, sharing, sampling and walk: source service + wait + service, at 70 % of the capacity."""
    platform = SimulatedPlatform(
        hop_cpu_ms=0, remote_hop_cpu_ms=0, hop_ms=0, service_spread=Spread.EXPONENTIAL, queue_rows=10_000
    )
    topology = chain(Operator("work", cost=Cost(cpu_ms=1.0)))
    truth = SimulatedEngine(platform).truth(topology, tasks(topology, 1, 1), load=0.7)
    assert truth.throughput_per_s == pytest.approx(1000, rel=1e-3)
    wait_ms = truth.processing_ms.mean - 1.0 - 0.001
    assert wait_ms == pytest.approx(0.7 / 0.3, rel=0.05)


def test_recursion_equals_its_loop():
    """Unrolled over rows for numpy, it is still Lindley's recursion, with a first wait and queue by queue."""
    rng = np.random.default_rng(2)
    gaps, services = rng.standard_exponential((3, 200)), rng.standard_exponential((3, 200))
    first = np.array([0.0, 2.0, 50.0])
    waits, after = queue_waits(gaps, services, first, np.full(3, np.inf))
    for queue in range(3):
        wait = first[queue]
        for row in range(200):
            assert waits[queue, row] == pytest.approx(wait)
            wait = max(0.0, wait + services[queue, row] - gaps[queue, row])
        assert after[queue] == pytest.approx(wait)


def test_nobody_waits_longer_than_a_full_queue_takes():
    """A bounded queue at twice its rate is full: its rows wait the limit, not for ever."""
    waits, after = queue_waits(np.full((1, 500), 0.5), np.ones((1, 500)), np.zeros(1), np.full(1, 20.0))
    assert waits.max() == after[0] == 20.0
    assert (waits[0, 50:] == 20.0).all()


@pytest.mark.parametrize("spread", list(Spread))
def test_spread_has_mean_one_and_its_variation(spread):
    """Factors multiply a mean service."""
    factors = spread.draw(np.random.default_rng(1), (200_000,))
    assert factors.mean() == pytest.approx(1, rel=0.01)
    assert factors.std() == pytest.approx(spread.cv, abs=0.01)
