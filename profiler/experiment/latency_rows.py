"""Latencies of many rows as a histogram, so that the p99 of several windows is one of rows and not a median of p99s.

HdrHistogram is what latencies are commonly kept in: histograms add up exactly, whatever the order, a value is kept
within 1 %, and one is a text of some hundred characters that its tools read in every language. Rows may count more than
others (`production_weights` of the Spark engine): a row of weight 1 is `_STEPS` counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt
from hdrh.histogram import HdrHistogram

from profiler.errors import ProfileError

Floats = npt.NDArray[np.float64]

_US_PER_MS = 1000
_LONGEST_US = 3_600_000_000
_DIGITS = 2
_STEPS = 8
"""Counts of a row of weight 1: a histogram counts in whole numbers, and weights need not be any."""


def as_text(values_ms: Floats, weights: Floats) -> str | None:
    """Write down what latencies some rows had and how much each row counts; None of no rows."""
    if not len(values_ms):
        return None
    histogram, lowest_us = _empty(), _lowest_us()
    micros = np.clip(np.rint(values_ms * _US_PER_MS), 0, _LONGEST_US)
    buckets, which = np.unique(np.searchsorted(lowest_us, micros, side="right") - 1, return_inverse=True)
    counts = np.maximum(1, np.rint(_STEPS * np.bincount(which, weights)))
    for value, count in zip(lowest_us[buckets].tolist(), counts.astype(np.int64).tolist(), strict=True):
        histogram.record_value(value, count)
    return bytes(histogram.encode()).decode("ascii")


def mean_and_quantiles_ms(texts: Iterable[str], quantiles: Sequence[float]) -> tuple[float, list[float]]:
    """Add up the rows of some texts; give their mean, and the least latencies below which parts of them lie."""
    histogram = _empty()
    try:
        for text in texts:
            histogram.decode_and_add(text.encode("ascii"))
    except Exception as error:
        raise ProfileError(
            "The latencies of a stored window can't be read.", hint="Was it written by another version?"
        ) from error
    counts = np.ctypeslib.as_array(histogram.counts)
    lowest_us = _lowest_us()
    values_ms = (lowest_us + np.append(lowest_us[1:], _LONGEST_US) - 1) / 2 / _US_PER_MS
    below = np.cumsum(counts)
    places = np.searchsorted(below, np.array(quantiles) * below[-1])
    return float(np.average(values_ms, weights=counts)), values_ms[places].tolist()


def _empty() -> HdrHistogram:
    return HdrHistogram(1, _LONGEST_US, _DIGITS)


@cache
def _lowest_us() -> npt.NDArray[np.int64]:
    """Return the least value of every bucket: rows are dealt to them at once, and not one by one."""
    histogram = _empty()
    return np.array([histogram.get_value_from_index(index) for index in range(histogram.counts_len)])
