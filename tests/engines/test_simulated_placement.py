"""Where tasks run and who shares a thread."""

import numpy as np
import pytest
from simulated_scenarios import chain

from profiler import Operator, Source, Topology
from profiler.engines.simulated.placement import place, thread_roots


def test_tasks_are_dealt_over_the_nodes_in_turn():
    """Threads of 1, 4 and 2 tasks on three nodes: 0 | 1 2 0 1 | 2 0."""
    placed = place(np.array([[1, 4, 2]]), np.zeros(3), nodes=3)
    assert placed.tasks[0].tolist() == [[1, 0, 0], [1, 2, 1], [1, 0, 1]]
    assert placed.share[0] == pytest.approx([1, 1 / 4, 1 / 2])


def test_a_hot_task_gets_its_share_and_an_even_part():
    """40 % of the rows carry one key: of four tasks one gets 0.4 + 0.6 / 4, the others 0.6 / 4."""
    placed = place(np.array([[4]]), np.array([0.4]), nodes=2)
    assert placed.share[0] == pytest.approx([0.15, 0.55])
    assert placed.tasks[0].tolist() == [[1, 2], [1, 0]]
    assert placed.rows_on[0, 0] == pytest.approx([0.15 + 0.55, 0.3])


def test_crossing_is_the_part_of_rows_that_leaves_its_node():
    """One node: none. One task each on two nodes: all. Even spread over n nodes: 1 - 1/n."""
    pair = (np.array([0]), np.array([1]))
    assert place(np.array([[3, 5]]), np.zeros(2), nodes=1).crossing(*pair)[0, 0] == pytest.approx(0)
    assert place(np.array([[1, 1]]), np.zeros(2), nodes=2).crossing(*pair)[0, 0] == pytest.approx(1)
    assert place(np.array([[3, 6]]), np.zeros(2), nodes=3).crossing(*pair)[0, 0] == pytest.approx(2 / 3)


def test_every_row_is_handled_somewhere():
    """The shares of all tasks add up to one, hot or not."""
    counts = np.array([[1, 5, 2], [3, 1, 7]])
    placed = place(counts, np.array([0.0, 0.3, 0.9]), nodes=4)
    assert placed.rows_on.sum(axis=2) == pytest.approx(np.ones((2, 3)))
    assert placed.tasks.sum(axis=(1, 2)).tolist() == [8, 11]


def _roots(topology: Topology, fused: bool = True, **counts: int) -> list[str]:
    return list(thread_roots(topology, dict.fromkeys(topology.names, 1) | counts, fused=fused))


def test_stateless_one_to_one_steps_fuse_with_their_upstream():
    """State needs a shuffle; what follows it runs in its task."""
    topology = chain(Operator("parse"), Operator("count", stateful=True), Operator("write"))
    assert _roots(topology) == ["in", "in", "count", "count"]
    assert _roots(topology, fused=False) == ["in", "parse", "count", "write"]


def test_stated_tasks_that_differ_are_a_shuffle():
    """Where the job says four tasks behind one source task, it must repartition there."""
    topology = chain(Operator("parse", tasks=4), Operator("write"))
    assert _roots(topology, parse=4) == ["in", "parse", "parse"]
    assert _roots(topology, **{"in": 4, "parse": 4}) == ["in", "in", "in"]


def test_fan_out_and_fan_in_do_not_fuse():
    """Only edges between one producer and one consumer do."""
    topology = Topology(
        "diamond",
        [Source("in")],
        [Operator("a", inputs=["in"]), Operator("b", inputs=["in"]), Operator("meet", inputs=["a", "b"])],
    )
    assert _roots(topology) == ["in", "a", "b", "meet"]


def test_a_non_parallel_operator_fuses_only_with_one_task():
    """Behind two source tasks it keeps its own."""
    topology = chain(Operator("top", parallel=False))
    assert _roots(topology) == ["in", "in"]
    assert _roots(topology, **{"in": 2}) == ["in", "top"]
