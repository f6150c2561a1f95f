"""Latencies of short batches, weighed as in long ones."""

from __future__ import annotations

import numpy as np
import pytest

from profiler.engines.spark.windows.latency import summary
from profiler.engines.spark.windows.production_weights import as_in


def batches(length_s, seconds=300.0, rate=400):
    """Rows of a job that is slow in the first second of every batch: when they were read, and their latency."""
    read_s = np.arange(0, seconds, 1 / rate)
    latency = np.where(read_s % length_s < 1.0, 800.0, 100.0) + 50 * np.sin(read_s * 997)
    return read_s, latency


@pytest.mark.parametrize("production_s", [3.0, 10.0, 30.0])
def test_short_batches_tell_what_long_ones_do(production_s):
    """The mean and the quantiles of a long batch are those of a short one, weighed."""
    long = summary(batches(production_s)[1], np.ones(len(batches(production_s)[1])))
    read_s, latency = batches(3.0)
    weights = np.concatenate(
        [
            as_in(production_s, 3.0, [start])(read_s[(read_s >= start) & (read_s < start + 3)])
            for start in np.arange(0, 300, 3.0)
        ]
    )
    weighed = summary(latency, weights)
    assert weighed.mean == pytest.approx(long.mean, rel=0.02)
    assert weighed.p50 == pytest.approx(long.p50, rel=0.02)
    assert weighed.p95 == pytest.approx(long.p95, rel=0.02)
    assert weighed.p99 == pytest.approx(long.p99, rel=0.02)


def in_three_queries(length_s, seconds, begins_s, rate=200):
    """Rows that are late where any of three queries has just begun a batch, or paused before it."""
    read_s = np.arange(0, seconds, 1 / rate)
    late = (read_s - begins_s[0]) % length_s < 0.8
    for begins in begins_s[1:]:
        late |= (read_s - begins + 0.3) % length_s < 1.1
    return read_s, np.where(late, 800.0, 100.0) + 50 * np.sin(read_s * 997)


@pytest.mark.parametrize("begins_s", [(0.0, 0.1, 0.2), (0.0, 2.0, 4.0), (0.0, 5.0, 5.5), (0.0, 3.0, 3.5)])
def test_a_job_of_several_queries_pauses_at_several_times(begins_s):
    """Wherever in the first one's batch the others pause, a long batch has a fifth of the late rows of a short one."""
    _, long = in_three_queries(30.0, 3000.0, (0.0, 11.0, 23.0))
    read_s, short = in_three_queries(6.0, 600.0, begins_s)
    weights = np.concatenate(
        [
            as_in(30.0, 6.0, [start + begins for begins in begins_s])(read_s[(read_s >= start) & (read_s < start + 6)])
            for start in np.arange(0, 600, 6.0)
        ]
    )
    late = short > 500
    assert np.average(long > 500) == pytest.approx(0.1, abs=0.01)
    assert late.mean() > 0.19
    assert np.average(late, weights=weights) == pytest.approx(0.1, abs=0.04)


def test_windows_as_long_as_production_weigh_nothing():
    """Also where production's batches are shorter than a window."""
    read_s = np.arange(0.0, 30.0)
    assert as_in(30.0, 30.0, [0.0, 12.0])(read_s).tolist() == [1.0] * 30
    assert as_in(0.0, 3.0, [0.0])(read_s).tolist() == [1.0] * 30


def test_nothing_sampled_is_no_latency():
    """Not zero, not endless."""
    assert np.isnan(summary(np.array([]), np.array([])).p95)
