"""One small instance of every bench of the real engine, with the real parts; the long series are `scripts/bench`'s.

Bounds are wide: two seconds on a machine that others use too tell that a figure is what it says, not that it is good.
"""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from confluent_kafka.admin import AdminClient

from profiler.experiment.window_plan import WindowPlan
from scripts.benches import engine, generator, trust, uninstrumented
from scripts.benches.uninstrumented import plain_windows
from scripts.benches.warm_engine import CONFIGURATION, TOPOLOGY, WarmEngine

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

BEYOND_REACH_PER_S = 50_000.0


@pytest.fixture
def warm(monkeypatch, tmp_path, spark_engine, spark_kafka, spark_run, payloads):
    """Let the benches work on the session of all tests, with its messages, and keep what they measure here."""

    def at(rate_per_s):
        return WarmEngine(spark_engine, spark_kafka.address, spark_run, rate_per_s)

    @contextmanager
    def opened():
        yield at(BEYOND_REACH_PER_S)

    monkeypatch.setattr("scripts.benches.saved.FOLDER", tmp_path)
    monkeypatch.setattr(uninstrumented, "payload_file", lambda *_: payloads)
    monkeypatch.setattr(engine, "warm_engine", opened)
    monkeypatch.setattr(trust, "warm_engine", opened)
    return at


def by_quantity(rows):
    return {row["quantity"]: row for row in rows}


def test_an_uninstrumented_query_is_seen_from_outside(warm, spark_kafka):
    """Rows and CPU time without any sampled row, in the stages of the engine's own deployment; no topic is left."""
    seen = plain_windows(warm(1000.0), TOPOLOGY, CONFIGURATION, 1000.0, 2)
    rows, seconds = sum(each.rows for each in seen), sum(each.duration_s for each in seen)
    assert len(seen) == 2
    assert rows / seconds == pytest.approx(1000.0, rel=0.5)
    assert all(each.cpu_s > 0 for each in seen)
    left = AdminClient({"bootstrap.servers": spark_kafka.address}).list_topics(timeout=10).topics
    assert not [name for name in left if "plain-" in name]


def test_the_cost_of_instrumentation_and_the_time_between_rounds(warm, monkeypatch):
    """A pair of blocks under stress and two rounds; the generator has a test of its own."""
    monkeypatch.setattr(generator, "rows", lambda _: iter(()))
    found = by_quantity(engine.rows(engine.Sizes(pairs=1, windows=2, warm_up=1, rounds=1)))
    for quantity in ("throughput", "rows per CPU second"):
        assert 0.4 < found[f"decision windows: {quantity}"]["ours"] < 2.5
    assert found["instrumented: throughput"]["ours"] > 1000
    between = found["from a round's end to the next one's first window"]["ours"]
    assert between > found["the same, less the window itself"]["ours"] > 0
    assert between < 60


def test_the_generator_against_kafka_s_own_benchmark_and_its_rates(monkeypatch):
    """One turn of each producer, and two rates that the topic's own end confirms."""
    for name, value in {
        "REPETITIONS": 1,
        "WARM_UP": 50_000,
        "MEASURED": 200_000,
        "NEEDED_BYTES": 0,
        "RATES": (1_000, 20_000),
        "WINDOWS": 2,
        "WINDOW_S": 1.0,
    }.items():
        monkeypatch.setattr(generator, name, value)
    found = list(generator.rows())
    assert [row["against"] for row in found[:2]] == list(generator.THEIRS)
    assert 0.3 < found[0]["ours"] < 30, "a JVM that has just started is slow"
    errors = [row for row in found if row["quantity"].startswith("rate error")]
    assert len(errors) == 2
    assert all(row["ours"] < 0.1 for row in errors)


def test_a_configuration_is_confirmed_against_itself(warm):
    """Two blocks of each arm, the product's own confirmation; what is kept is not measured again."""
    sizes = trust.Sizes(confirmations=1, profiles=0, design=WindowPlan(block=2, block_warm_up=1, blocks=2))
    first = list(trust.rows(sizes))
    found = by_quantity(first)
    assert found["A/A confirmations that say changed"]["n"] == 1
    assert found["effect that these confirmations detect, median"]["ours"] > 0  # of two blocks an arm: next to nothing
    assert 0 < found["variation of windows: CPU per row"]["ours"] < 1
    assert list(trust.rows(sizes)) == first
