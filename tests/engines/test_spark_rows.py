"""The times that a sampled row carries below the millisecond of its event time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiler.engines.spark.query.rows import LONGEST_MS, inner_messages, inner_rows, latencies_ms


def stamp(due_ms: int, waited_ms: float) -> int:
    """Encode as the query does, in plain Python."""
    return due_ms * 1000 + 1 + round(998 * math.log1p(min(waited_ms, LONGEST_MS)) / math.log1p(LONGEST_MS))


def read(due_ms: int, waited_ms: float, processing_ms: int) -> float:
    arrived = due_ms + round(waited_ms) + processing_ms
    (processing,) = latencies_ms(np.array([stamp(due_ms, waited_ms)]), np.array([arrived])).tolist()
    return float(processing)


@given(st.integers(0, 2**41), st.integers(0, int(LONGEST_MS)), st.integers(1, 100_000))
def test_the_latency_comes_back(due_ms, waited_ms, processing_ms):
    """To a millisecond or 0.7 % of the time that the row had waited."""
    processing = read(due_ms, waited_ms, processing_ms)
    assert processing == pytest.approx(processing_ms, abs=max(1.0, 0.007 * (1 + waited_ms)))


@given(st.integers(0, 2**41), st.floats(0, 1e9))
def test_a_stamp_stays_within_its_millisecond(due_ms, waited_ms):
    """The event time that a user sees is the time the message was due, to the millisecond, and marked as sampled."""
    stamped = stamp(due_ms, waited_ms)
    assert stamped // 1000 == due_ms
    assert 1 <= stamped % 1000 <= 999


def test_latency_is_never_negative():
    """A waiting time that was rounded up must not take more than there was."""
    assert read(1_000_000, 599_000, 0) >= 0


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.exact
def test_every_type_survives_a_topic_between_two_queries(spark_engine):
    """To the microsecond, the byte and the last digit; what is missing stays missing."""
    spark = spark_engine.shared.session.spark
    sent = spark.sql(
        """
        select 1 as id, timestamp'2026-11-18 01:02:03.456789' as event_time, 12345678901234567.89bd as money,
               date'1969-12-31' as day, unhex('00ff10') as bytes, timestamp_ntz'2026-01-02 03:04:05.000001' as local,
               named_struct('at', timestamp'1999-12-31 23:59:59.999999', 'tags', array('a', null)) as nested,
               map('one', 1.5D, 'two', cast(null as double)) as weights, true as flag, cast(9e18 as bigint) as large,
               'quote " and \\n line' as `a text, with ``odd`` name`
        union all
        select 2, null, null, null, null, null, null, null, null, null, null
        """
    )
    messages = inner_messages(sent, {"inbox": 1}, ("marks", 0)).where("topic = 'inbox'")
    received = inner_rows(messages, sent.schema)
    assert received.schema.simpleString() == sent.schema.simpleString()
    assert received.orderBy("id").collect() == sent.orderBy("id").collect()
