"""Operators with selectivities of their own on real Spark give as many rows as plain Python counts."""

from __future__ import annotations

import gzip
import json
import time
import zlib
from collections import Counter

import pytest
from feeding import at_ms, rows_given
from messages import Message
from profiler.shipped.tweets import make_tweets

from profiler.job.loading import load_topology

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.exact]


@pytest.fixture(scope="module")
def tweets(tmp_path_factory: pytest.TempPathFactory) -> list[Message]:
    """300 tweets, always the same, in the last minute."""
    path = tmp_path_factory.mktemp("tweets") / "tweets.gz"
    make_tweets(path, count=300, seed=6)
    first_ms = (int(time.time()) - 60) * 1000
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [
            Message(line.rstrip("\n"), first_ms + 25 * number, f"key-{number}") for number, line in enumerate(lines)
        ]


def copies(column: str, selectivity: float) -> int:
    whole, part = divmod(selectivity, 1)
    return int(whole) + (zlib.crc32(column.encode()) % 1000 < 1000 * part)


def test_every_side_of_the_diamond_gives_its_own_number_of_rows(spark_engine, tweets: list[Message]) -> None:
    """Two of SQL, two over Arrow batches, and the meeting point."""
    reference = (
        "diamond?wait_ms=0.1,selectivity_compute=2,selectivity_ask=1.5,selectivity_look_up=0.5,selectivity_meet=2"
    )
    expected: Counter[int] = Counter()
    for message in tweets:
        sides = 2 + 1 + copies(message.value, 1.5) + copies(message.value, 0.5)
        expected[message.at_ms] += 2 * sides
    found = rows_given(
        spark_engine, load_topology(reference), {"events": tweets}, lambda rows: len(rows) >= expected.total()
    )
    assert Counter(at_ms(row) for row in found) == expected


def test_the_sinks_of_the_star_give_their_own_number_of_rows(spark_engine, tweets: list[Message]) -> None:
    reference = "star?selectivity_hub=2,selectivity_store=0.5,selectivity_publish=3"
    expected: Counter[tuple[str, int]] = Counter()
    for message in tweets:
        identity = json.loads(message.value)["id"]
        stored = 2 * copies(str(identity), 0.5)
        if stored:
            expected["store", identity] = stored
        expected["publish", identity] = 6
    found = rows_given(
        spark_engine,
        load_topology(reference),
        {"left": tweets[:100], "right": tweets[100:]},
        lambda rows: len(rows) >= expected.total(),
    )
    assert Counter((row["sink"], row["id"]) for row in found) == expected


def test_operators_of_linear_give_their_own_number_of_rows(spark_engine, tweets: list[Message]) -> None:
    reference = "linear?depth=3,selectivity_work_1=2,selectivity_work_2=3"
    few = tweets[:100]
    found = rows_given(spark_engine, load_topology(reference), {"events": few}, lambda rows: len(rows) >= 600)
    assert Counter(at_ms(row) for row in found) == {message.at_ms: 6 for message in few}
