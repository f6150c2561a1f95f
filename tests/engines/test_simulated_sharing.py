"""Processor sharing on one node, against what is known exactly."""

import numpy as np
import pytest

from profiler.engines.simulated.sharing import Nodes


def _most(nodes: Nodes, cpu: list[float], wait: list[float]) -> float:
    """Largest rate at which threads of these costs per row keep up, by bisection."""
    low, high = 0.0, 100.0
    for _ in range(50):
        rate = (low + high) / 2
        fits = nodes.keep_up(rate * np.array([cpu]), rate * np.array([wait]))[0]
        low, high = (rate, high) if fits else (low, rate)
    return low


def _node(cores: int, *threads: int, switching: float = 0.0) -> Nodes:
    return Nodes.of(np.array(threads, dtype=float)[None, :, None], cores, switching)


def _machine_repair(threads: int, cores: int, cpu: float, wait: float) -> float:
    """Exact rows per second of threads that wait and then need a core in turn (exponential times): M/M/c//N."""
    weights = [1.0]
    for waiting_for_core in range(threads):
        arrive, leave = (threads - waiting_for_core) / wait, min(waiting_for_core + 1, cores) / cpu
        weights.append(weights[-1] * arrive / leave)
    busy = [min(number, cores) for number in range(threads + 1)]
    return float(np.dot(weights, busy) / sum(weights) / cpu)


@pytest.mark.parametrize(("threads", "cores"), [(1, 1), (2, 1), (4, 2), (8, 2), (8, 4), (24, 2)])
@pytest.mark.parametrize("wait", [0.5, 1.0, 4.0])
def test_threads_that_wait_and_compute_come_near_the_exact_closed_network(threads, cores, wait):
    """The mean-field closure errs by a few percent against the machine-repair model."""
    per_thread = _most(_node(cores, threads), [1.0], [wait])
    assert threads * per_thread == pytest.approx(_machine_repair(threads, cores, 1.0, wait), rel=0.06)


@pytest.mark.parametrize(("threads", "cores"), [(1, 2), (2, 2), (3, 2), (16, 4)])
def test_threads_that_only_compute_use_all_cores_they_can(threads, cores):
    """A thread uses one core at the most, and together they use all."""
    assert threads * _most(_node(cores, threads), [1.0], [0.0]) == pytest.approx(min(threads, cores))


def test_switching_costs_only_where_threads_outnumber_cores():
    """Two threads on two cores lose nothing; eight lose the stated part, weighted by 1 - cores / threads."""
    assert 2 * _most(_node(2, 2, switching=0.1), [1.0], [0.0]) == pytest.approx(2)
    assert 8 * _most(_node(2, 8, switching=0.1), [1.0], [0.0]) == pytest.approx(2 / (1 + 0.1 * 0.75))


def test_waiting_threads_do_not_hinder_each_other():
    """Fifty threads that hardly compute run as if they were alone."""
    assert _most(_node(1, 50), [0.001], [10.0]) == pytest.approx(1 / 10.001, rel=0.01)


def test_runnable_solves_the_fixed_point():
    """Below capacity b = d · max(1, q (1 + R - b) / K) holds for every kind of thread."""
    nodes = _node(2, 2, 3, switching=0.05)
    cpu = np.array([[0.4, 0.3]])
    busy = nodes.runnable(cpu)[0, :, 0]
    total = 2 * busy[0] + 3 * busy[1]
    expected = cpu[0] * np.maximum(1.0, nodes.switching[0, 0] * (1 + total - busy) / 2)
    assert busy == pytest.approx(expected)
    assert (busy > cpu[0]).all()


def test_a_node_without_tasks_keeps_up():
    """An empty node limits nobody."""
    nodes = Nodes.of(np.array([[[1.0, 0.0]]]), 1, 0.05)
    assert nodes.keep_up(np.array([[0.9]]), np.array([[0.0]]))[0]
