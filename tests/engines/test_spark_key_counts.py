"""The most frequent key of a keyed operator, from what Spark counted per batch."""

from __future__ import annotations

import pytest

from profiler.engines.spark.query.key_counts import FEWEST, KEYS_OF, KeyCounts


def batch(rows, **counts):
    return {KEYS_OF + "count": {"rows": rows, "keys": [{"item": key, "count": n} for key, n in counts.items()]}}


def test_the_most_frequent_value_is_named_over_all_batches():
    counts = KeyCounts()
    counts.add(batch(FEWEST, ann=80, bob=90))
    counts.add(batch(FEWEST, ann=120, bob=10))
    assert counts.most_frequent("count") == ("ann", pytest.approx(0.5))


def test_too_few_rows_say_nothing():
    counts = KeyCounts()
    counts.add(batch(FEWEST - 1, ann=FEWEST - 1))
    assert counts.most_frequent("count") is None
    assert counts.most_frequent("another") is None
    counts.add(batch(1, ann=1))
    assert counts.most_frequent("count") == ("ann", 1.0)


def test_batches_without_rows_and_other_observations_are_no_trouble():
    counts = KeyCounts()
    counts.add({"rows out of count": {"rows": 5}, KEYS_OF + "count": {"rows": 0, "keys": None}})
    assert counts.most_frequent("count") is None
    counts.add({KEYS_OF + "count": {"rows": 2 * FEWEST, "keys": []}})
    assert counts.most_frequent("count") is None
