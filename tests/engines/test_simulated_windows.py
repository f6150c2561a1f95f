"""Windows of the simulated engine: what they average to, what they conserve, what drives their latency."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_scenarios import chain, tasks, topologies

from profiler import Cost, Operator, Topology
from profiler.engines.simulated import Preset, SimulatedEngine, SimulatedPlatform
from profiler.experiment.observation import Detail, Observation
from profiler.job.configuration import Configuration

WORDS = chain(
    Operator("split", output="workload", selectivity=9, cost=Cost(cpu_ms=0.2)),
    Operator("count", stateful=True, key="word", cost=Cost(cpu_ms=0.05)),
)


def _engine(preset: Preset = Preset.QUIET, seed: int = 1, **platform: float) -> SimulatedEngine:
    return SimulatedEngine(SimulatedPlatform(**{"nodes": 2, "cores_per_node": 2} | platform), preset, seed)


def _observe(
    engine: SimulatedEngine,
    topology: Topology,
    configuration: Configuration,
    rate: float,
    windows: int,
    fused: bool = False,
) -> list[Observation]:
    """Windows with full detail after a warm-up of fifteen."""
    running = engine.deploy(topology, configuration, Detail.FULL, fused=fused)
    list(running.observe(rate, 15))
    return list(running.observe(rate, windows))


@pytest.mark.long
@pytest.mark.parametrize("preset", [Preset.QUIET, Preset.SHARED, Preset.HOSTILE])
@pytest.mark.parametrize("fused", [False, True])
def test_windows_at_stress_average_to_the_truth(preset, fused):
    """Over deployments, as drift between them is part of the noise; warm-up is not, so it is switched off."""
    engine, configuration = _engine(preset, first_warm_up_loss=0, warm_up_loss=0), tasks(WORDS, 1, 2, 3)
    truth = engine.truth(WORDS, configuration, fused=fused).throughput_per_s
    deployments = 60 if preset is Preset.SHARED else 8
    seen = [
        window.throughput_per_s
        for _ in range(deployments)
        for window in engine.deploy(WORDS, configuration, Detail.LIGHT, fused=fused).observe(1.5 * truth, 8)
    ]
    assert np.mean(seen) == pytest.approx(truth, rel=0.025 if preset is Preset.SHARED else 0.01)


@pytest.mark.long
def test_windows_vary_as_the_preset_says():
    """Noise reaches the throughput of saturated windows; below capacity what is offered comes out."""
    steady = chain(Operator("parse", cost=Cost(cpu_ms=0.5)))
    for preset, low, high in ((Preset.QUIET, 0.015, 0.035), (Preset.SHARED, 0.08, 0.15)):
        engine = _engine(preset)
        stressed = _observe(engine, steady, tasks(steady, 1, 1), 5000, 300)
        throughputs = [window.throughput_per_s for window in stressed]
        assert low < np.std(throughputs) / np.mean(throughputs) < high
        calm = _observe(engine, steady, tasks(steady, 1, 1), 500, 50)
        assert [window.throughput_per_s for window in calm] == pytest.approx([500] * 50)


def test_cpu_per_row_follows_the_speed_index():
    """On shared machines CPU per row × speed index varies far less than CPU per row."""
    seen = _observe(_engine(Preset.SHARED), WORDS, tasks(WORDS, 1, 1, 1), 5000, 400)
    per_row = np.array([window.cpu_s / window.source_rows for window in seen])
    normalised = per_row * np.array([window.speed_index for window in seen])
    assert normalised.std() / normalised.mean() < 0.8 * per_row.std() / per_row.mean()


@pytest.mark.long
@settings(deadline=None, max_examples=60)
@given(topology=topologies(), data=st.data())
def test_rows_are_conserved_on_every_edge(topology, data):
    """What an operator gets is what its inputs sent; sources pass on what they pull; times fit into the window."""
    counts = data.draw(st.lists(st.integers(1, 4), min_size=len(topology.names), max_size=len(topology.names)))
    engine = _engine(data.draw(st.sampled_from(list(Preset))), slots=100)
    configuration = tasks(topology, *counts)
    capacity = float(engine.capacities(topology, np.array([counts]))[0])
    running = engine.deploy(topology, configuration, Detail.FULL, fused=data.draw(st.booleans()))
    for window in running.observe(data.draw(st.floats(0.2, 2)) * capacity, 2):
        source_rows = sum(window.operators[source.name].rows_in for source in topology.sources)
        assert source_rows == pytest.approx(window.throughput_per_s * window.duration_s)
        for source in topology.sources:
            assert window.operators[source.name].rows_out == pytest.approx(window.operators[source.name].rows_in)
        for operator in topology.operators:
            sent = sum(window.operators[before].rows_out for before in operator.inputs)
            assert window.operators[operator.name].rows_in == pytest.approx(sent)
        for seen in window.operators.values():
            assert 0 < seen.busiest_task_s <= window.duration_s * (1 + 1e-9)
            assert seen.busy_s <= seen.tasks * seen.busiest_task_s * (1 + 1e-9)
        assert window.processing_ms.p50 <= window.processing_ms.p99 < np.inf


def test_logic_dependent_output_is_constant():
    """Ten times the input, the same output."""
    topology = chain(
        Operator("top", output="logic", emits_per_s=5, cost=Cost(cpu_ms=0.1)), Operator("write", cost=Cost(cpu_ms=1))
    )
    for rate in (50, 500):
        last = _observe(_engine(), topology, tasks(topology, 1, 1, 1), rate, 1)[0]
        assert last.operators["top"].rows_out == pytest.approx(5 * last.duration_s)
        assert last.operators["write"].rows_in == pytest.approx(5 * last.duration_s)


def test_workload_dependent_output_varies_with_the_data():
    """Around the stated ratio from window to window; a proportional operator's does not."""
    topology = chain(
        Operator("split", output="workload", selectivity=9, cost=Cost(cpu_ms=0.1)),
        Operator("tag", output="proportional", selectivity=2, cost=Cost(cpu_ms=0.1)),
    )
    seen = _observe(_engine(), topology, tasks(topology, 1, 1, 1), 50, 16)
    ratios = {
        name: np.array([window.operators[name].rows_out / window.operators[name].rows_in for window in seen])
        for name in ("split", "tag")
    }
    assert ratios["split"].mean() == pytest.approx(9)
    assert 0.02 < ratios["split"].std() / 9 < 0.1
    assert ratios["tag"] == pytest.approx(np.full(16, 2))


def test_the_bottleneck_is_busy_all_the_time_and_the_others_are_not():
    """Capacity as step 3 reads it: busy seconds over tasks × window."""
    topology = chain(Operator("light", cost=Cost(wait_ms=1)), Operator("heavy", cost=Cost(wait_ms=4)))
    window = _observe(_engine(), topology, tasks(topology, 1, 1, 2), 10_000, 1)[0]
    share = {name: seen.busy_s / (seen.tasks * window.duration_s) for name, seen in window.operators.items()}
    assert share["heavy"] == pytest.approx(1, abs=0.03)
    assert share["light"] == pytest.approx(0.5, abs=0.03)


def test_contention_stretches_busy_time_but_not_cpu_time():
    """Four computing tasks on two cores look busy twice as long as they compute."""
    topology = chain(Operator("parse", cost=Cost(cpu_ms=1)))
    window = _observe(_engine(nodes=1, switching=0.0), topology, tasks(topology, 1, 4), 10_000, 1)[0]
    seen = window.operators["parse"]
    assert seen.busy_s / seen.cpu_s == pytest.approx(2, rel=0.1)
    assert window.cpu_s == pytest.approx(2 * window.duration_s, rel=0.1)


def test_a_hot_key_shows_in_the_busiest_task():
    """Its task works far more than the mean."""
    topology = chain(Operator("count", stateful=True, key="word", hot_key_share=0.5, cost=Cost(wait_ms=2)))
    window = _observe(_engine(), topology, tasks(topology, 1, 4), 300, 1)[0]
    seen = window.operators["count"]
    assert seen.busiest_task_s / (seen.busy_s / seen.tasks) == pytest.approx((0.5 + 0.5 / 4) * 4, rel=0.01)


def test_overload_fills_the_buffers_and_the_backlog_grows():
    """Processing latency is what the full queues hold; what waits before the source is the backlog."""
    topology = chain(Operator("parse", cost=Cost(cpu_ms=1)))
    engine = _engine()
    calm = _observe(engine, topology, tasks(topology, 1, 1), 500, 20)
    stressed = _observe(engine, topology, tasks(topology, 1, 1), 1300, 20)
    assert stressed[-1].processing_ms.p50 == pytest.approx(64, rel=0.15)
    assert calm[-1].processing_ms.p50 < 5
    waiting = [window.queue_rows for window in stressed]
    assert waiting == sorted(waiting)
    assert waiting[-1] > waiting[0] > 0


def test_back_pressure_fills_what_lies_before_the_bottleneck_only():
    """Two queues are full before a slow end, one before a slow start."""
    steps = [Operator("fast", cost=Cost(cpu_ms=0.1)), Operator("slow", cost=Cost(cpu_ms=1))]
    slow_end, slow_start = chain(*steps), chain(*reversed(steps))
    late = _observe(_engine(), slow_end, tasks(slow_end, 1, 1, 1), 2000, 1)[0]
    early = _observe(_engine(), slow_start, tasks(slow_start, 1, 1, 1), 2000, 1)[0]
    assert late.processing_ms.p50 == pytest.approx(2 * early.processing_ms.p50, rel=0.1)


def test_latency_rises_with_load():
    """Queueing: the nearer to capacity, the longer rows wait."""
    engine = _engine()
    means = [engine.truth(WORDS, tasks(WORDS, 1, 2, 2), load=load).processing_ms.mean for load in (0.2, 0.6, 0.9, 0.97)]
    assert means == sorted(means)
    assert means[-1] > 2 * means[0]


def test_short_windows_of_slow_tasks_overrun():
    """Rows buffered before a task of ten rows a second drain long after the sources stopped."""
    slow, fast = (chain(Operator("call", cost=Cost(wait_ms=wait))) for wait in (100, 1))
    dragged = _observe(_engine(), slow, tasks(slow, 1, 1), 13, 5)[-1]
    assert dragged.overran
    assert dragged.duration_s > 1.15 * 3
    prompt = _observe(_engine(), fast, tasks(fast, 1, 1), 1300, 5)[-1]
    assert not prompt.overran


def test_first_windows_run_below_capacity_and_converge():
    """The engine's first deployment is the slowest: its session is cold too."""
    topology = chain(Operator("parse", cost=Cost(cpu_ms=1)))
    engine, configuration = _engine(), tasks(topology, 1, 1)
    truth = engine.truth(topology, configuration).throughput_per_s
    cold, warm = (
        [window.throughput_per_s / truth for window in running.observe(1e5, 20)]
        for running in (engine.deploy(topology, configuration, Detail.LIGHT) for _ in range(2))
    )
    assert cold[0] < 0.6
    assert cold[0] < warm[0] < 0.95
    assert np.mean(cold[12:]) == pytest.approx(1, abs=0.03)
    assert np.mean(warm[4:]) == pytest.approx(1, abs=0.03)


def test_a_warm_deployment_stays_warm():
    """Warm-up belongs to the deployment, not to the call of observe."""
    running = _engine().deploy(WORDS, tasks(WORDS, 1, 1, 1), Detail.LIGHT)
    first = next(iter(running.observe(1e5, 1))).throughput_per_s
    list(running.observe(1e5, 20))
    assert next(iter(running.observe(1e5, 1))).throughput_per_s > 1.5 * first


def test_a_throttled_configuration_is_offered_no_more():
    """The limit on the offered rate is part of the configuration."""
    running = _engine().deploy(WORDS, tasks(WORDS, 1, 1, 1).throttled(50), Detail.LIGHT)
    seen = [(window.offered_per_s, window.throughput_per_s) for window in running.observe(1000, 3)]
    assert seen == [(50, 50)] * 3


def test_fusing_spares_hops_but_not_cores():
    """One thread executes the sum of the costs, without handing rows over."""
    topology = chain(*(Operator(f"step{number}", cost=Cost(cpu_ms=0.25)) for number in range(4)))
    engine, configuration = _engine(), tasks(topology, 1, 1, 1, 1, 1)
    fused = _observe(engine, topology, configuration, 5000, 1, fused=True)[0]
    assert engine.truth(topology, configuration, fused=True).throughput_per_s == pytest.approx(1000, rel=0.01)
    assert engine.truth(topology, configuration).throughput_per_s > 3000
    assert all(seen.tasks == 1 for seen in fused.operators.values())
    assert sum(seen.busy_s for seen in fused.operators.values()) == pytest.approx(fused.duration_s, rel=0.03)


def test_same_seed_same_windows():
    """Everything random comes from the seed."""
    first, second, other = (
        _observe(_engine(Preset.SHARED, seed), WORDS, tasks(WORDS, 1, 2, 2), 3000, 5) for seed in (5, 5, 6)
    )
    assert first == second
    assert first != other


def test_every_deployment_has_its_own_stream():
    """How long one deployment is observed does not change what the next one sees."""
    seen = []
    for windows in (1, 7):
        engine = _engine(Preset.SHARED)
        list(engine.deploy(WORDS, tasks(WORDS, 1, 1, 1), Detail.LIGHT).observe(1e4, windows))
        second = engine.deploy(WORDS, tasks(WORDS, 1, 1, 1), Detail.LIGHT)
        seen.append([window.throughput_per_s for window in second.observe(1e4, 5)])
    assert seen[0] == seen[1]


def test_closing_the_engine_ends_its_deployments():
    """Nothing started is left behind."""
    engine = _engine()
    running = engine.deploy(WORDS, tasks(WORDS, 1, 1, 1), Detail.LIGHT)
    engine.close()
    with pytest.raises(Exception, match="closed"):
        running.observe(10, 1)
