"""The uninstrumented query of the engine bench, with the real parts."""

from __future__ import annotations

import pytest

from profiler.engines.spark.topics import Topics
from scripts.benches.uninstrumented import plain_windows
from scripts.benches.warm_engine import CONFIGURATION, TOPOLOGY, WarmEngine

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.alone]

RATE_PER_S = 1000.0


def test_an_uninstrumented_query_is_seen_from_outside(spark_engine, spark_kafka, spark_run):
    """Rows and CPU time without any sampled row, in the stages of the engine's own deployment; no topic is left."""
    at = WarmEngine(spark_engine, spark_kafka.address, spark_run, RATE_PER_S)
    seen = plain_windows(at, TOPOLOGY, CONFIGURATION, RATE_PER_S, 2)
    rows, seconds = sum(each.rows for each in seen), sum(each.duration_s for each in seen)
    assert len(seen) == 2
    assert rows / seconds == pytest.approx(RATE_PER_S, rel=0.5)
    assert all(each.cpu_s > 0 for each in seen)
    topics = Topics(spark_kafka.address)
    left = topics._admin.list_topics(timeout=10).topics
    topics.close()
    assert not [name for name in left if name.startswith("plain-")]
