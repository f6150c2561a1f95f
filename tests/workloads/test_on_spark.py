"""Every workload on real Spark, with several tasks everywhere, gives what plain Python computes from its messages."""

from __future__ import annotations

import gzip
import json
import time
from collections import Counter

import pytest
import references
from feeding import Row, at_ms, rows_given
from messages import Message
from profiler.shipped.tweets import make_tweets
from profiler.shipped.twitter_sentiment import WINDOW_S
from references import highest

from profiler.job.loading import load_topology

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.exact]

SPAN_MS = 25
"""Between two messages."""
ODD = ["no json", "[1, 2]", '{"id": 2}', "", '{"text": null}'] + [
    json.dumps({"text": text, "user": {"screen_name": "odd"}})
    for text in ("", "  The end of THIS ", "and\tthe\nrest", "#News, #news and #NEWS for the win", "¡el día más feliz!")
]


@pytest.fixture(scope="module")
def tweets(tmp_path_factory: pytest.TempPathFactory) -> list[Message]:
    """1200 tweets over three windows of hashtags, always the same, in the last minute."""
    path = tmp_path_factory.mktemp("tweets") / "tweets.gz"
    make_tweets(path, count=1200, seed=5)
    first_ms = (int(time.time()) // WINDOW_S * WINDOW_S - 60) * 1000
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [
            Message(line.rstrip("\n"), first_ms + SPAN_MS * number, f"key-{number}")
            for number, line in enumerate(lines)
        ]


@pytest.fixture(scope="module")
def messages(tweets: list[Message]) -> list[Message]:
    """The same after some messages that are no tweets, or strange ones."""
    odd = [Message(value, tweets[0].at_ms + number) for number, value in enumerate(ODD)]
    return [*odd, *tweets]


@pytest.mark.parametrize(("reference", "selectivity"), [("linear", 1), ("linear?depth=3,selectivity=1.5", 1.5)])
def test_linear_draws_the_same_numbers(spark_engine, tweets: list[Message], reference: str, selectivity: float) -> None:
    topology = load_topology(reference)
    expected = references.linear(tweets[:300], len(topology.operators), selectivity)
    found = rows_given(spark_engine, topology, {"events": tweets[:300]}, at_least(expected.total()))
    assert Counter((at_ms(row), row["number"]) for row in found) == expected


def test_diamond_gives_every_tweet_by_all_four_ways(spark_engine, tweets: list[Message]) -> None:
    expected = references.diamond(tweets[:300])
    found = rows_given(spark_engine, load_topology("diamond"), {"events": tweets[:300]}, at_least(expected.total()))
    assert Counter((at_ms(row), row["key"], row["id"], row["text"]) for row in found) == expected


@pytest.mark.parametrize(("reference", "copies"), [("star", 1), ("star?selectivity=3", 3)])
def test_star_gives_tweets_of_both_sources_to_both_sinks(
    spark_engine, tweets: list[Message], reference: str, copies: int
) -> None:
    sent = {"left": tweets[:500], "right": tweets[500:]}
    expected = references.star(tweets, copies)
    found = rows_given(spark_engine, load_topology(reference), sent, at_least(expected.total()))
    said = [row["text"] if row["sink"] == "store" else row["screen_name"] for row in found]
    assert (
        Counter((at_ms(row), row["sink"], row["id"], text) for row, text in zip(found, said, strict=True)) == expected
    )


@pytest.mark.parametrize("name", ["word-count", "synthetic-word-count"])
def test_words_are_counted(spark_engine, messages: list[Message], name: str) -> None:
    """Every occurrence gives a row, with one more than the row before: nothing is lost, nothing counted twice."""
    expected = references.word_counts(messages)
    found = rows_given(spark_engine, load_topology(name), {"tweets": messages}, at_least(expected.total()))
    assert Counter((row["word"], row["n"]) for row in found) == Counter(
        (word, n) for word, count in expected.items() for n in range(1, count + 1)
    )


def test_sentiments_and_hashtags_of_tweets(spark_engine, messages: list[Message]) -> None:
    """Averages exactly, author by author; rankings window by window, as `top` speaks when its timer says so."""
    moods, rankings = references.moods(messages), references.hashtag_rankings(messages)
    rows = sum(tweets for tweets, _, _ in moods.values())

    def complete(found: list[Row]) -> bool:
        return sum("user" in row for row in found) >= rows and ranked(found) == rankings

    found = rows_given(spark_engine, load_topology("twitter-sentiment"), {"tweets": messages}, complete)
    by_author = [row for row in found if "user" in row]
    last = {row["user"]: row for row in sorted(by_author, key=lambda row: row["tweets"])}
    assert {user: (row["tweets"], row["average"], row["mood"]) for user, row in last.items()} == moods
    assert Counter((row["user"], row["tweets"]) for row in by_author) == Counter(
        (user, n) for user, (tweets, _, _) in moods.items() for n in range(1, tweets + 1)
    )
    assert len(rankings) == 3
    assert ranked(found) == rankings
    assert all(row["line"] == f"#{row['tag']}: {row['n']}" for row in found if "tag" in row)


def ranked(found: list[Row]) -> dict[int, list[tuple[str, int]]]:
    """Read the rankings as a subscriber would: the highest count of every hashtag counts."""
    windows: dict[int, dict[str, int]] = {}
    for row in found:
        if "tag" in row:
            window = windows.setdefault(row["window_s"], {})
            window[row["tag"]] = max(row["n"], window.get(row["tag"], 0))
    return {window: highest(counts.items()) for window, counts in windows.items()}


def at_least(rows: int):
    return lambda found: len(found) >= rows
