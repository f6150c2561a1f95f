"""Long windows of the simulated engine: a machine changes in time, not from window to window."""

import numpy as np
import pytest
from simulated_scenarios import chain, tasks

from profiler import Cost, Operator
from profiler.engines.simulated import Preset, SimulatedEngine, SimulatedPlatform
from profiler.experiment.observation import Detail

STEADY = chain(Operator("parse", cost=Cost(cpu_ms=0.5)))
CONFIGURATION = tasks(STEADY, 1, 1)


def _seen(window_s: float, load: float, windows: int, seed: int = 1, preset: Preset = Preset.SHARED):
    """Windows of a job that has warmed up, at a part of what it does on average."""
    engine = SimulatedEngine(SimulatedPlatform(first_warm_up_loss=0), preset, seed, window_s=window_s)
    rate = load * engine.truth(STEADY, CONFIGURATION).throughput_per_s
    running = engine.deploy(STEADY, CONFIGURATION, Detail.FULL)
    return list(running.observe(rate, windows))


def test_a_long_window_is_its_short_ones_together():
    """The same time in one window or in ten: rows, CPU, speed and time of the operators are the same."""
    short, (long,) = _seen(3, 0.4, 10), _seen(30, 0.4, 1)
    assert long.duration_s == pytest.approx(30)
    assert long.source_rows == pytest.approx(sum(each.source_rows for each in short))
    assert long.cpu_s == pytest.approx(sum(each.cpu_s for each in short))
    assert long.speed_index == pytest.approx(np.mean([each.speed_index for each in short]))
    parse = [each.operators["parse"] for each in short]
    assert long.operators["parse"].rows_in == pytest.approx(sum(each.rows_in for each in parse))
    assert long.operators["parse"].busy_s == pytest.approx(sum(each.busy_s for each in parse))


def test_the_latency_of_a_long_window_is_that_of_all_its_rows():
    """Not the mean of its parts: its worst rows are those of its slowest times."""
    short, (long,) = _seen(3, 0.85, 10, seed=4), _seen(30, 0.85, 1, seed=4)
    p99 = [each.processing_ms.p99 for each in short]
    assert np.median(p99) < long.processing_ms.p99 <= max(p99)
    assert long.processing_ms.mean == pytest.approx(np.mean([each.processing_ms.mean for each in short]), rel=0.02)


def test_throughput_of_long_windows_varies_less():
    """Within a deployment, ups and downs of three seconds cancel out."""

    def spread(window_s: float) -> float:
        throughputs = [each.throughput_per_s for each in _seen(window_s, 1.5, 60)]
        return float(np.std(throughputs) / np.mean(throughputs))

    assert spread(30) < 0.7 * spread(3)


def test_what_a_slow_time_leaves_is_worked_off_within_the_window():
    """At 90 % of the average speed some times are too slow; a window of half a minute makes up for most of them."""
    for seed in range(20):
        short, (long,) = _seen(3, 0.9, 10, seed=seed), _seen(30, 0.9, 1, seed=seed)
        was_behind = [each.queue_rows > 0 for each in short]
        if any(was_behind[2:8]) and not was_behind[-1] and not any(each.overran for each in short):
            break
    else:
        pytest.fail("no seed had a slow time that was made up for")
    assert long.queue_rows == 0
    assert long.throughput_per_s == pytest.approx(long.offered_per_s, rel=0.01)
    calm = _seen(30, 0.5, 1, seed=seed)[0]
    assert long.processing_ms.p99 > 3 * calm.processing_ms.p99
