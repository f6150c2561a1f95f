"""The most frequent key among sampled rows."""

from __future__ import annotations

import json

import pytest

from profiler import Operator, Source, Topology
from profiler.engines.spark.key_counts import FEWEST, KeyCounts, key_columns


def same(rows):
    return rows


def test_the_most_frequent_value_of_a_column_is_named():
    counts = KeyCounts({"user", "tag"})
    for number in range(2 * FEWEST):
        counts.add(json.dumps({"user": "ann" if number % 2 else f"u{number}", "tag": None}).encode())
    assert counts.most_frequent("user") == ("ann", pytest.approx(0.5))
    assert counts.most_frequent("tag") == ("None", 1.0)


def test_rows_that_are_their_value_alone_can_be_keyed_by_it():
    """A sink sends the column `value` as it is; JSON that holds the column is looked into first."""
    counts = KeyCounts({"value"})
    for _ in range(FEWEST):
        counts.add(b"line 1")
    assert counts.most_frequent("value") == ("line 1", 1.0)


def test_few_rows_and_columns_that_do_not_come_out_say_nothing():
    counts = KeyCounts({"user", "other"})
    for _ in range(FEWEST - 1):
        counts.add(b'{"user": "ann"}')
    assert counts.most_frequent("user") is None
    assert counts.most_frequent("other") is None
    assert counts.most_frequent("unknown") is None
    counts.add(b"\xff{")
    counts.add(None)
    counts.add(b'{"user": "ann"}')
    assert counts.most_frequent("user") == ("ann", 1.0)


def test_nothing_is_counted_where_nothing_is_asked_for():
    assert not KeyCounts(())
    topology = Topology.chain("t", Source("in"), Operator("a", same), Operator("b", same, stateful=True, key="word"))
    assert key_columns(topology) == {"word"}
