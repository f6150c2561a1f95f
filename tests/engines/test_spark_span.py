"""Which part of a batch is a window, and how much of the batch's rows it has."""

from __future__ import annotations

import pytest

from profiler.engines.spark.windows.span import counted_span


def test_a_batch_in_the_middle_counts_as_a_whole():
    span = counted_span(10.0, 13.0, sent_from_s=2.0, counted_from_s=3.0)
    assert (span.start_s, span.duration_s, span.scale_s) == (10.0, 3.0, 3.0)


def test_rows_that_were_sent_before_the_rate_counted_are_no_gift():
    """1,000 rows/s from 0.3 s on, counted from 0.5 s on: the window has 1,000 rows/s, not 1,080."""
    span = counted_span(0.0, 3.0, sent_from_s=0.3, counted_from_s=0.5)
    rows, batch_s = 2700.0, 3.0
    assert span.duration_s == pytest.approx(2.5)
    assert rows / batch_s * span.scale_s / span.duration_s == pytest.approx(1000)


def test_a_rate_that_is_reached_late_keeps_the_batch_s_own_pace():
    """The job was under load all the time, so what it did before tells its pace as well."""
    span = counted_span(3.16, 7.28, sent_from_s=0.0, counted_from_s=3.74)
    assert 32_528 / 4.12 * span.scale_s / span.duration_s == pytest.approx(32_528 / 4.12)


@pytest.mark.parametrize("counted_from_s", [None, 3.0, 9.0])
def test_a_batch_that_never_saw_the_rate_is_empty(counted_from_s):
    assert counted_span(0.0, 3.0, sent_from_s=1.0, counted_from_s=counted_from_s).duration_s == 0


def test_a_batch_before_anything_was_sent_has_no_rows():
    assert counted_span(0.0, 3.0, sent_from_s=5.0, counted_from_s=None).scale_s == 0
