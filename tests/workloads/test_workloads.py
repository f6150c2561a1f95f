"""The workloads have the paper's shapes, run on the simulated engine, and word count counts words."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from profiler.loading import load_topology
from workloads import WORKLOADS


def test_linear_is_as_deep_as_asked_for() -> None:
    assert load_topology("linear").names == ("events", "work-1", "work-2", "work-3")
    assert len(load_topology("linear?depth=12").operators) == 11


def test_diamond_holds_every_kind_of_operator_between_source_and_meeting_point() -> None:
    diamond = load_topology("diamond")
    middle = [diamond[name].cost for name in diamond.successors("events")]
    assert diamond["meet"].inputs == diamond.successors("events")
    assert sum(cost.cpu_ms >= 0.2 for cost in middle) == 1
    assert sum(cost.wait_ms == 5 for cost in middle) == 2


def test_star_has_two_sources_and_two_sinks_around_a_hub() -> None:
    star = load_topology("star")
    assert len(star.sources) == 2
    assert len(star["hub"].inputs) == len(star.successors("hub")) == 2


def test_word_count_is_a_chain_that_ends_in_a_stateful_count() -> None:
    topology = load_topology("word-count")
    assert topology.names == ("tweets", "parse", "split", "count")
    assert topology["count"].stateful
    assert topology["count"].key == "word"
    assert 9 <= topology["split"].selectivity <= 12


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_operator_states_its_cost(name: str) -> None:
    """The simulated engine needs it."""
    assert all(element.cost is not None for element in load_topology(name))


@pytest.mark.spark
def test_word_count_on_spark_counts_as_python_does() -> None:
    from pyspark.sql import SparkSession

    texts = ["the cat and the hat", "  The end ", "", "and\tthe rest"]
    messages = [*(json.dumps({"text": text, "id": 1}) for text in texts), "no json", '{"id": 2}']
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.sql.shuffle.partitions", "1")
    session = builder.config("spark.log.level", "OFF").getOrCreate()
    try:
        rows = session.createDataFrame(
            [("k", message, 1) for message in messages], "key string, value string, event_time long"
        )
        for operator in load_topology("word-count").operators:
            rows = operator.function(rows)
        counted = {row["word"]: row["n"] for row in rows.collect()}
        assert "event_time" in rows.columns
    finally:
        session.stop()
    assert counted == Counter(word for text in texts for word in text.lower().split())
