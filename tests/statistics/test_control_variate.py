"""The speed index as a control variate."""

from __future__ import annotations

import numpy as np
import pytest

from profiler.statistics.control_variate import normalised, speed_slope
from profiler.statistics.search_noise import RoundWindows


def run(seed: int, slope: float, noise: float, n: int = 20, level: float = 1.0) -> RoundWindows:
    rng = np.random.default_rng(seed)
    speed = rng.normal(scale=0.1, size=n)
    values = level * np.exp(slope * speed + rng.normal(scale=noise, size=n))
    return RoundWindows(tuple(values.tolist()), tuple(np.exp(speed).tolist()))


def test_a_job_bound_by_cpu_follows_the_index() -> None:
    """Throughput in proportion to speed has slope 1, and normalised it is constant."""
    exact = run(1, 1.0, 0.0)
    assert speed_slope([exact]) == pytest.approx(1.0)
    assert normalised(exact, 1.0) == pytest.approx([1.0] * 20)


def test_the_slope_is_estimated_within_runs() -> None:
    """Runs of other configurations differ in level, which has nothing to do with speed."""
    runs = [run(seed, 0.7, 0.02, level=level) for seed, level in enumerate(np.geomspace(1, 100, 20))]
    assert speed_slope(runs) == pytest.approx(0.7, abs=0.05)


def test_an_index_that_explains_nothing_is_shrunk_away() -> None:
    """Chance slopes are a fraction of what plain regression gives."""
    shrunk = [speed_slope([run(seed, 0.0, 0.1, n=10)]) for seed in range(200)]
    assert np.mean(shrunk) < 0.08
    assert min(shrunk) == 0.0


def test_a_negative_slope_is_taken_as_none() -> None:
    """No job runs faster on a slower machine."""
    assert speed_slope([run(2, -1.0, 0.01)]) == 0.0


@pytest.mark.parametrize(
    "windows",
    [
        RoundWindows((1.0, 2.0, 3.0)),
        RoundWindows((1.0, 2.0, 3.0), (1.0, 2.0)),
        RoundWindows((1.0, 2.0, 3.0), (1.0, 0.0, 2.0)),
        RoundWindows((1.0, 2.0, 3.0), (0.97, 0.97, 0.97)),
        RoundWindows((0.0, 2.0, 3.0), (0.9, 1.0, 1.1)),
    ],
    ids=["none", "incomplete", "zero", "constant", "no throughput"],
)
def test_a_useless_index_gives_no_slope(windows: RoundWindows) -> None:
    """Missing, broken or constant indices leave everything as it is."""
    assert speed_slope([windows]) == 0.0
    assert normalised(windows, 0.0) == windows.values


def test_a_run_without_index_is_not_normalised() -> None:
    """Even where other runs have one."""
    assert normalised(RoundWindows((1.0, 2.0)), 0.9) == (1.0, 2.0)
