"""Latencies of rows, put together from several windows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiler.errors import ProfileError
from profiler.experiment.latency_rows import as_text
from profiler.experiment.observation import Latency, end_to_end_latency, typical_latency
from profiler.experiment.quantiles import QUANTILES
from tests.scenarios import window


def text(values_ms, weights=None):
    return as_text(np.asarray(values_ms, float), np.ones(len(values_ms)) if weights is None else np.asarray(weights))


def seen(values_ms, weights=None):
    """A window whose rows had these latencies."""
    quantiles = np.quantile(values_ms, QUANTILES).tolist()
    told = Latency(float(np.mean(values_ms)), *quantiles)
    return replace(window(latency=told), processing_rows=text(values_ms, weights))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.floats(0.1, 100_000), min_size=1, max_size=200), min_size=1, max_size=4))
def test_the_quantiles_are_those_of_all_rows(windows):
    """Within the 1 % that a histogram keeps, in whatever order the windows come."""
    merged = typical_latency([seen(each) for each in windows])
    rows = np.sort(np.concatenate(windows))
    for quantile in QUANTILES:
        place = int(np.searchsorted(np.arange(1, len(rows) + 1), quantile * len(rows)))
        assert merged.quantile(quantile) == pytest.approx(rows[place], rel=0.01)
    assert merged.mean == pytest.approx(rows.mean(), rel=0.01)
    assert typical_latency([seen(each) for each in reversed(windows)]) == merged


def test_a_stalled_window_counts_by_its_rows():
    """Few rows come out of it: they are no reason to call the job slow, and too many to be passed over."""
    calm, stalled = seen(np.full(900, 20.0)), seen(np.full(30, 900.0))
    merged = typical_latency([calm, calm, stalled])
    assert merged.p95 == pytest.approx(20.0, rel=0.01)
    assert merged.p99 == pytest.approx(900.0, rel=0.01)


def test_a_row_that_stands_for_many_counts_as_many():
    """As rows of a short batch do for those that a long one would go on to read."""
    merged = Latency.of_rows([text([10.0, 200.0], [28.0, 1.0]), text([10.0, 200.0], [0.25, 0.25])])
    assert merged.p95 == pytest.approx(10.0, rel=0.01)
    assert merged.p99 == pytest.approx(200.0, rel=0.01)


def test_windows_of_older_versions_tell_the_median_window():
    """Of the thousandth row nothing is known where some of them say nothing of it."""
    old = [window(latency=Latency(each, each, each, each)) for each in (10.0, 900.0, 20.0)]
    assert typical_latency(old) == Latency(20.0, 20.0, 20.0, 20.0, None)
    assert typical_latency([*old, seen([5000.0])]).p95 == pytest.approx(460.0)


def test_what_is_not_known_is_judged_by_the_next_one_that_is():
    """A constraint on 99.9 % of the rows of an old profile is one on 99 %, and named so."""
    old, new = Latency(10, 20, 30, 40), Latency(10, 20, 30, 40, 50)
    assert (old.name(0.999), old.quantile(0.999)) == ("p99", 40)
    assert (new.name(0.999), new.quantile(0.999)) == ("p99.9", 50)
    assert "p99.9" not in old.told()


def test_no_rows_tell_nothing():
    """Neither of a window, nor of several."""
    assert text([]) is None
    assert typical_latency([]) is None
    assert end_to_end_latency([window(), window()]) is None


def test_a_text_that_is_none_is_a_stored_window_s_fault():
    """Said in a sentence, whatever it is that is wrong with it."""
    for broken in ("", "HISTF", "nonsense", "HISTFAAAAZh4é", text([1.0])[:-8]):
        with pytest.raises(ProfileError, match="stored window can't be read"):
            Latency.of_rows([broken])
