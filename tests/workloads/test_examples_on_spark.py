"""The examples on real Spark, with several tasks everywhere, give what plain Python computes from their messages."""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from feeding import rows_given
from messages import Message

from profiler.job.loading import load_topology

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.exact]

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def messages_of(file: str) -> list[Message]:
    """Return the example's messages, a millisecond apart, in the last minute."""
    first_ms = (int(time.time()) - 60) * 1000
    lines = (EXAMPLES / file).read_text(encoding="utf-8").splitlines()
    return [Message(line, first_ms + number, f"key-{number}") for number, line in enumerate(lines)]


def test_orders_are_added_up_by_shop(spark_engine):
    """Every order gives its shop's total so far: the last is the sum, and none is missing."""
    messages = messages_of("own_job/orders.jsonl")
    totals: defaultdict[str, list[float]] = defaultdict(list)
    for order in (json.loads(message.value) for message in messages):
        totals[order["shop"]].append(round(order["price"] * order["amount"], 2))
    topology = load_topology(str(EXAMPLES / "own_job" / "topology.py"))
    found = rows_given(spark_engine, topology, {"orders": messages}, lambda rows: len(rows) >= len(messages))
    assert Counter(row["shop"] for row in found) == Counter({shop: len(worth) for shop, worth in totals.items()})
    last = {row["shop"]: row["worth"] for row in sorted(found, key=lambda row: row["worth"])}
    assert last == pytest.approx({shop: sum(worth) for shop, worth in totals.items()})


def test_clicks_are_counted_by_segment_and_by_page(spark_engine):
    """Both branches see every click that is theirs: SQL and Python, two operators with state, a stream that parts."""
    topology = load_topology(str(EXAMPLES / "clickstream" / "topology.py"))
    segment_of = topology["segment"].function.__globals__["segment_of"]
    messages = messages_of("clickstream/clicks.jsonl")
    clicks = [json.loads(message.value) for message in messages]
    human = [click for click in clicks if not click["agent"].startswith("crawler")]
    expected = Counter(click["page"] for click in clicks) + Counter(segment_of(click["user"]) for click in human)
    found = rows_given(spark_engine, topology, {"clicks": messages}, lambda rows: len(rows) >= len(clicks) + len(human))
    assert Counter(row.get("page") or row["segment"] for row in found) == expected
    most = Counter()
    for row in found:
        name = row.get("page") or row["segment"]
        most[name] = max(most[name], row["clicks"])
    assert most == expected
    spent = Counter()
    for click in human:
        spent[segment_of(click["user"])] += click["ms"]
    last = {row["segment"]: row["ms"] for row in sorted(found, key=lambda row: row["clicks"]) if "segment" in row}
    assert last == dict(spent)
