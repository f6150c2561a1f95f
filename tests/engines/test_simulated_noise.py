"""The presets' figures, by simulation of many blocks of windows."""

import numpy as np
import pytest

from profiler.engines.simulated.noise import NoiseProcess, Preset

BLOCKS, WINDOWS = 600, 40


@pytest.fixture(scope="module", params=list(Preset))
def drawn(request: pytest.FixtureRequest) -> tuple[Preset, np.ndarray]:
    """Throughput factor, CPU factor and speed index of every window: (3, blocks, windows)."""
    noise = NoiseProcess(request.param, np.random.default_rng(1))
    factors = np.empty((3, BLOCKS, WINDOWS))
    for block in range(BLOCKS):
        noise.start_block()
        for window in range(WINDOWS):
            drawn = noise.window()
            factors[:, block, window] = drawn.throughput_factor, drawn.cpu_factor, drawn.speed_index
    return request.param, factors


def _cv(values: np.ndarray) -> float:
    return float(values.std() / values.mean())


def _lag1(blocks: np.ndarray) -> float:
    inner = blocks - blocks.mean(axis=1, keepdims=True)
    return float((inner[:, 1:] * inner[:, :-1]).mean() / (inner**2).mean())


def test_factors_are_one_on_average(drawn):
    """Noise-free truth is what noisy windows average to."""
    _, factors = drawn
    assert factors.mean(axis=(1, 2)) == pytest.approx([1, 1, 1], abs=0.01)


def test_throughput_varies_as_the_preset_says(drawn):
    """Quiet and hostile machines vary by 2-3 %, shared ones by 12 %."""
    preset, (throughput, _, _) = drawn
    low, high = {Preset.SHARED: (0.11, 0.13), Preset.HOSTILE: (0.025, 0.035)}.get(preset, (0.02, 0.03))
    assert low <= _cv(throughput) <= high


def test_windows_of_a_block_are_correlated(drawn):
    """Lag-1 within a run is 0.4 on shared machines and small on the others."""
    preset, (throughput, _, _) = drawn
    expected = {Preset.SHARED: 0.4, Preset.HOSTILE: 0.2}.get(preset, 0.1)
    # Centring on the block's own mean biases the estimate by about -(1 + 4 rho) / n.
    bias = (1 + 4 * expected) / WINDOWS
    assert _lag1(np.log(throughput)) == pytest.approx(expected - bias, abs=0.03)


def test_shared_machines_drift_between_blocks(drawn):
    """The drift is several percent on shared machines and negligible on the others."""
    preset, (throughput, _, _) = drawn
    logs = np.log(throughput)
    between = max(0.0, logs.mean(axis=1).var() - _variance_of_a_mean(logs)) ** 0.5
    assert (0.04 <= between <= 0.10) if preset is Preset.SHARED else (between <= 0.01)


def _variance_of_a_mean(logs: np.ndarray) -> float:
    lag1 = _lag1(logs)
    return float(logs.var(axis=1, ddof=1).mean() / WINDOWS * (1 + lag1) / (1 - lag1))


def test_speed_index_explains_sixty_percent_of_shared_throughput(drawn):
    """The squared correlation of the logs is the part explained."""
    preset, (throughput, _, speed) = drawn
    explained = np.corrcoef(np.log(throughput).ravel(), np.log(speed).ravel())[0, 1] ** 2
    assert explained == pytest.approx(0.6 if preset is Preset.SHARED else 0.3, abs=0.04)


def test_normalised_cpu_per_row_is_the_sharpest_signal(drawn):
    """CPU per row × speed index varies by 6-7 % on shared machines, and less than throughput everywhere."""
    preset, (throughput, cpu, speed) = drawn
    assert _cv(cpu * speed) < _cv(throughput)
    if preset is Preset.SHARED:
        assert 0.06 <= _cv(cpu * speed) <= 0.07
        assert np.corrcoef(np.log(cpu).ravel(), np.log(speed).ravel())[0, 1] < -0.75


def test_same_stream_same_noise():
    """The process draws from nothing but its stream."""
    first, second = (NoiseProcess(Preset.SHARED, np.random.default_rng(7)) for _ in range(2))
    assert [first.window() for _ in range(5)] == [second.window() for _ in range(5)]
