"""What a batch costs whatever its rows, where the simulated platform has such costs."""

import pytest
from simulated_scenarios import chain, tasks

from profiler import Cost, Operator
from profiler.engines.simulated import Preset, SimulatedEngine, SimulatedPlatform
from profiler.experiment.constraint import LatencyConstraint
from profiler.experiment.observation import Detail, Observation

ASK = chain(Operator("parse", cost=Cost(cpu_ms=0.1)), Operator("ask", cost=Cost(cpu_ms=0.05, wait_ms=7)))
ONE_EACH = tasks(ASK, 1, 1, 1)


def _engine(preset: Preset = Preset.BATCHED, window_s: float = 3.0, **platform: float) -> SimulatedEngine:
    return SimulatedEngine(SimulatedPlatform(**{"slots": 40} | platform), preset, seed=1, window_s=window_s)


def _seen(engine: SimulatedEngine, rate: float, configuration=ONE_EACH) -> Observation:
    """One window with all details, after ten that warm up."""
    return list(engine.deploy(ASK, configuration, Detail.FULL).observe(rate, 11))[-1]


def _cpu_per_row(window: Observation, operator: str) -> float:
    seen = window.operators[operator]
    return seen.cpu_s / seen.rows_in


def test_a_small_stream_tells_costs_that_are_far_too_high():
    """Of CPU and of the time that a row takes; a stream that is near the limit hardly does, nor does another preset."""
    batched, quiet = _seen(_engine(), 25), _seen(_engine(Preset.QUIET), 25)
    loaded = _seen(_engine(), 110)
    assert _cpu_per_row(batched, "ask") > 5 * _cpu_per_row(quiet, "ask")
    assert _cpu_per_row(loaded, "ask") < 0.4 * _cpu_per_row(batched, "ask")
    assert batched.cpu_s == pytest.approx(sum(each.cpu_s for each in batched.operators.values()), rel=0.2)
    one, other = batched.operators["ask"], quiet.operators["ask"]
    assert one.busy_s / one.rows_in > 1.1 * other.busy_s / other.rows_in


def test_long_batches_cost_less():
    """The same stream, ten times fewer batches."""
    short, long = _seen(_engine(), 25), _seen(_engine(window_s=30), 25)
    fixed_short = _cpu_per_row(short, "ask") - 0.00005
    assert _cpu_per_row(long, "ask") - 0.00005 < 0.2 * fixed_short


def test_what_gathers_in_the_pause_is_caught_up():
    """Nothing is lost, and nothing waits at the end, as long as there is room for it."""
    window = _seen(_engine(), 100)
    assert window.throughput_per_s == pytest.approx(100)
    assert window.queue_rows == pytest.approx(0, abs=1e-6)


def test_a_job_does_less_as_it_pauses_and_more_tasks_pause_longer():
    """Every task has to be started, on the same cores."""
    quiet, batched = _engine(Preset.QUIET), _engine()
    for counts, at_least in (((1, 1, 1), 0.05), ((1, 1, 25), 0.2)):
        configuration = tasks(ASK, *counts)
        full = quiet.truth(ASK, configuration).throughput_per_s
        paused = batched.truth(ASK, configuration).throughput_per_s
        assert paused < (1 - at_least) * full
        seen = _seen(batched, 1.1 * full, configuration).throughput_per_s
        assert seen == pytest.approx(paused, rel=0.1)


def test_the_highest_rate_is_that_of_production_s_batches():
    """Long batches pause less, so that they hold more, and with a tight latency as well."""
    engine, configuration = _engine(), tasks(ASK, 1, 1, 12)
    whole = _engine(Preset.QUIET).truth(ASK, configuration).throughput_per_s
    for latency_ms in (40, 2000):
        constraint = LatencyConstraint(latency_ms, 0.95)
        short, long = (engine.highest_rate(ASK, configuration, constraint, batch_s=batch_s) for batch_s in (3, 30))
        assert 0 < short < 0.97 * long < 0.99 * whole
        assert engine.keeps(ASK, configuration, 0.995 * long, constraint, batch_s=30)
        assert not engine.keeps(ASK, configuration, 1.005 * long, constraint, batch_s=30)
