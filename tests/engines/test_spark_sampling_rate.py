"""How thinly rows are sampled at which rate."""

from __future__ import annotations

import pytest

from profiler.engines.spark.load.sampling_rate import FEWEST_SAMPLED, is_fitting, sample_every

WINDOW_S = 3.0


@pytest.mark.parametrize(("rate_per_s", "every"), [(0, 1), (100, 1), (1_000, 4), (3_000, 16), (100_000, 64)])
def test_sampling_thins_out_as_the_rate_grows(rate_per_s, every):
    """A window of three seconds keeps a few hundred samples; at high rates it is one row in 64."""
    assert sample_every(rate_per_s, WINDOW_S) == every


@pytest.mark.parametrize("rate_per_s", [1, 100, 1_000, 3_000, 100_000, 10_000_000])
def test_what_is_chosen_for_a_rate_fits_it_and_rates_near_it(rate_per_s):
    """Else every window would begin with a restart."""
    every = sample_every(rate_per_s, WINDOW_S)
    assert all(is_fitting(every, factor * rate_per_s, WINDOW_S) for factor in (0.5, 1, 3))


def test_too_few_and_too_many_samples_do_not_fit():
    """Of a rate that turned out far lower no p99 could be told, of one far higher all rows would be looked at."""
    assert not is_fitting(16, 100.0, WINDOW_S)
    assert not is_fitting(1, 10_000.0, WINDOW_S)


def test_what_cannot_be_changed_fits():
    """There is no more than every row, and no less than one in 64."""
    assert is_fitting(1, 0.1, WINDOW_S)
    assert is_fitting(FEWEST_SAMPLED, 1e9, WINDOW_S)
