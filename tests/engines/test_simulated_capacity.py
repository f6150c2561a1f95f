"""What configurations carry without noise: scaling, back-pressure, skew, hops, sources."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_scenarios import chain, tasks, topologies

from profiler import Cost, Operator, Source, Topology
from profiler.engines.simulated import Preset, SimulatedEngine, SimulatedPlatform
from profiler.engines.simulated.queueing import Spread
from profiler.experiment.observation import Detail

FREE = {"hop_cpu_ms": 0.0, "remote_hop_cpu_ms": 0.0, "switching": 0.0}


def _capacity(topology: Topology, *counts: int, preset: Preset = Preset.QUIET, **platform: float) -> float:
    engine = SimulatedEngine(SimulatedPlatform(**{"nodes": 1, "cores_per_node": 2} | platform), preset)
    return float(engine.capacities(topology, np.array([counts]))[0])


def test_waiting_operators_scale_past_the_cores():
    """24 tasks that wait 10 ms a row carry 24 times what one does, on two cores."""
    topology = chain(Operator("call", cost=Cost(wait_ms=10, cpu_ms=0.01)))
    one, many = _capacity(topology, 1, 1), _capacity(topology, 1, 24)
    assert one == pytest.approx(100, rel=0.01)
    assert many == pytest.approx(24 * one, rel=0.01)


def test_computing_operators_do_not_scale_past_the_cores():
    """Two cores carry what two tasks do; more tasks only add switching."""
    topology = chain(Operator("parse", cost=Cost(cpu_ms=1)))
    one, two, eight = (_capacity(topology, 1, count) for count in (1, 2, 8))
    assert one == pytest.approx(1000, rel=0.02)
    assert two == pytest.approx(2 * one, rel=0.05)
    assert eight < two


def test_a_task_uses_one_core_at_the_most():
    """Spare cores do not help a single task."""
    topology = chain(Operator("parse", cost=Cost(cpu_ms=1)))
    assert _capacity(topology, 1, 1, cores_per_node=8) == pytest.approx(_capacity(topology, 1, 1, cores_per_node=2))


def test_the_slowest_operator_holds_the_whole_topology_up():
    """Back-pressure: the flow is what the narrowest task sustains, wherever it sits."""
    steps = [Operator("fast", cost=Cost(wait_ms=1)), Operator("slow", cost=Cost(wait_ms=8))]
    there, back = chain(*steps), chain(*reversed(steps))
    assert _capacity(there, 1, 1, 1, **FREE) == pytest.approx(125, rel=1e-3)
    assert _capacity(back, 1, 1, 1, **FREE) == pytest.approx(125, rel=1e-3)


def test_a_branch_holds_up_its_siblings():
    """Fan-out copies every row to every consumer, so the slowest branch sets the pace of all."""
    topology = Topology(
        "fork",
        [Source("in")],
        [
            Operator("quick", inputs=["in"], cost=Cost(wait_ms=1)),
            Operator("slow", inputs=["in"], cost=Cost(wait_ms=10)),
        ],
    )
    assert _capacity(topology, 1, 4, 1, **FREE) == pytest.approx(100, rel=1e-3)


def test_fan_in_unites_its_inputs():
    """The meeting point of two branches gets every row twice."""
    topology = Topology(
        "diamond",
        [Source("in")],
        [
            Operator("a", inputs=["in"], cost=Cost(wait_ms=1)),
            Operator("b", inputs=["in"], cost=Cost(wait_ms=1)),
            Operator("meet", inputs=["a", "b"], cost=Cost(wait_ms=5)),
        ],
    )
    assert _capacity(topology, 1, 1, 1, 1, **FREE) == pytest.approx(100, rel=1e-3)


def test_selectivity_multiplies_the_load_downstream():
    """Nine words a line: the counter sees nine rows for one."""
    topology = chain(Operator("split", selectivity=9, cost=Cost(cpu_ms=0.1)), Operator("count", cost=Cost(wait_ms=1)))
    assert _capacity(topology, 1, 1, 1, **FREE) == pytest.approx(1000 / 9, rel=1e-3)


def test_sources_share_the_offered_rate():
    """A source that gets a fifth of the rate reaches its limit at five times its own capacity."""
    topology = Topology(
        "two",
        [Source("big", share=0.8), Source("small", share=0.2)],
        [
            Operator("a", inputs=["big"], cost=Cost(wait_ms=0.1)),
            Operator("b", inputs=["small"], cost=Cost(wait_ms=10)),
        ],
    )
    assert _capacity(topology, 1, 1, 1, 1, **FREE) == pytest.approx(500, rel=1e-3)


def test_a_source_task_pulls_no_more_than_its_limit():
    """Further source tasks raise it."""
    topology = chain(Operator("pass", cost=Cost(cpu_ms=0.001)), source=Source("in", pull_per_s=1000))
    assert _capacity(topology, 1, 1) == pytest.approx(1000)
    assert _capacity(topology, 3, 1) == pytest.approx(3000)
    assert _capacity(chain(Operator("pass", cost=Cost(cpu_ms=0.001))), 1, 1, pull_per_s=777) == pytest.approx(777)


def test_a_hot_key_is_not_cured_by_tasks():
    """Half of the rows on one key: no number of tasks carries more than twice what one does."""
    topology = chain(Operator("count", stateful=True, key="word", hot_key_share=0.5, cost=Cost(wait_ms=10)))
    spread = chain(Operator("count", stateful=True, key="word", cost=Cost(wait_ms=10)))
    assert _capacity(topology, 1, 1, **FREE) == pytest.approx(100, rel=1e-3)
    assert _capacity(topology, 1, 50, **FREE) == pytest.approx(100 / (0.5 + 0.5 / 50), rel=1e-3)
    assert _capacity(spread, 1, 50, **FREE) == pytest.approx(5000, rel=1e-3)


def test_hops_between_nodes_cost_more_than_within():
    """The same tasks carry less when their rows leave the node."""
    topology = chain(Operator("parse", cost=Cost(cpu_ms=0.02)))
    apart, together = ({"nodes": 2, "cores_per_node": 2}, {"nodes": 1, "cores_per_node": 4})
    assert _capacity(topology, 1, 1, pull_per_s=1e6, **apart) < 0.9 * _capacity(
        topology, 1, 1, pull_per_s=1e6, **together
    )


def test_a_timer_s_output_does_not_limit_the_stream():
    """Behind a logic-dependent operator the load is the timer's, not the stream's."""
    top = Operator("top", output="logic", emits_per_s=2, cost=Cost(cpu_ms=0.1))
    slow = Operator("write", cost=Cost(wait_ms=100))
    assert _capacity(chain(top, slow), 1, 1, 1, **FREE) == pytest.approx(10_000, rel=0.02)
    without = Operator("top", cost=Cost(cpu_ms=0.1))
    assert _capacity(chain(without, slow), 1, 1, 1, **FREE) == pytest.approx(10, rel=0.01)


def test_a_timer_that_asks_too_much_skips_turns():
    """Output that no consumer could take does not stop the stream."""
    top = Operator("top", output="logic", emits_per_s=1e6, cost=Cost(cpu_ms=0.1))
    assert _capacity(chain(top, Operator("write", cost=Cost(wait_ms=100))), 1, 1, 1, **FREE) > 5000


def test_truth_and_capacities_are_one():
    """The yardstick of one configuration is that of many."""
    topology = chain(Operator("split", output="workload", cost=Cost(cpu_ms=0.3)), Operator("b", cost=Cost(wait_ms=2)))
    engine = SimulatedEngine(SimulatedPlatform(nodes=3), Preset.HOSTILE, seed=4)
    grid = np.array([[1, 1, 1], [1, 3, 2], [3, 3, 3]])
    for counts, capacity in zip(grid, engine.capacities(topology, grid), strict=True):
        assert engine.truth(topology, tasks(topology, *counts.tolist())).throughput_per_s == pytest.approx(capacity)


def test_more_configurations_than_a_batch_keep_their_order():
    """Solving in batches changes nothing."""
    topology = chain(Operator("parse", cost=Cost(cpu_ms=1)))
    engine = SimulatedEngine(SimulatedPlatform(nodes=4))
    grid = np.array(list(itertools.product(range(1, 51), repeat=2)))
    capacities = engine.capacities(topology, grid)
    picked = [0, 1023, 1024, 2499]
    assert capacities[picked] == pytest.approx([float(engine.capacities(topology, grid[[row]])[0]) for row in picked])


def test_hostile_platforms_hide_what_features_do_not_show():
    """Costs under load are 15 % off, keys are skewed, tasks get less efficient, switching costs three times as much."""
    quiet = SimulatedPlatform()
    hostile = quiet.under(Preset.HOSTILE)
    assert hostile.switching == pytest.approx(3 * quiet.switching)
    keyed, plain = Operator("count", stateful=True), Operator("parse")
    hidden = [hostile.hidden(operator, seed) for seed in range(50) for operator in (keyed, plain)]
    assert {round(secret.load_factor, 2) for secret in hidden} == {0.85, 1.15}
    assert all(0.05 <= secret.skew <= 0.2 for secret in hidden[::2])
    assert all(0 <= secret.skew <= 0.05 for secret in hidden[1::2])
    waiting = chain(Operator("call", cost=Cost(wait_ms=10)))
    per_task = [_capacity(waiting, 1, count, preset=Preset.HOSTILE, nodes=8) / count for count in (1, 4, 16, 48)]
    assert per_task == sorted(per_task, reverse=True)
    assert per_task[-1] < 0.8 * per_task[0]


def test_hidden_costs_show_only_under_load():
    """At a trickle the busy time per row is the stated one; at stress it is about 15 % off, up or down."""
    topology = chain(*(Operator(f"call{number}", cost=Cost(wait_ms=10)) for number in range(6)))
    engine = SimulatedEngine(SimulatedPlatform(nodes=8, service_spread=Spread.CONSTANT, **FREE), Preset.HOSTILE)
    running = engine.deploy(topology, tasks(topology, *[1] * 7), Detail.FULL)
    per_row_ms = {}
    for rate in (2, 200):
        *_, last = running.observe(rate, 30)
        per_row_ms[rate] = [1000 * seen.busy_s / seen.rows_in for seen in list(last.operators.values())[1:]]
    assert per_row_ms[2] == pytest.approx([10] * 6, rel=0.1)
    ratios = np.array(per_row_ms[200]) / 10
    assert ((np.abs(ratios - 1) > 0.08) & (np.abs(ratios - 1) < 0.22)).all()
    assert ratios.min() < 1 < ratios.max()


@pytest.mark.long
@settings(deadline=None, max_examples=60)
@given(
    topology=topologies(max_operators=3),
    nodes=st.integers(1, 3),
    cores=st.integers(1, 4),
    preset=st.sampled_from([Preset.QUIET, Preset.HOSTILE]),
)
def test_more_cores_per_node_never_lower_any_capacity(topology, nodes, cores, preset):
    """Nor, therefore, the noise-free optimum over the grid."""
    grid = np.array(list(itertools.product(range(1, 4), repeat=len(topology.names))))
    few, more = (
        SimulatedEngine(SimulatedPlatform(nodes=nodes, cores_per_node=size, slots=50), preset, seed=1).capacities(
            topology, grid
        )
        for size in (cores, cores + 1)
    )
    assert (few > 0).all()
    assert (more >= few * (1 - 1e-5)).all()
    assert more.max() >= few.max() * (1 - 1e-5)
