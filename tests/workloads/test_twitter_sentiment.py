"""The Python operators of twitter-sentiment, on batches as Spark gives them."""

from __future__ import annotations

import gzip
import json
import time
from collections import Counter
from datetime import UTC, datetime

import pandas as pd
import pyarrow as pa
import pytest
from afinn import Afinn
from hypothesis import given
from hypothesis import strategies as st
from profiler.shipped.tweets import make_tweets
from references import highest

from profiler.shipped import twitter_sentiment as job

NOW = datetime(2026, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)


@pytest.fixture(scope="module")
def tweets(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    path = tmp_path_factory.mktemp("tweets") / "tweets.gz"
    make_tweets(path, count=3000, seed=2)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def batch(**columns: list[object]) -> pa.RecordBatch:
    """An Arrow batch with an event time."""
    rows = len(next(iter(columns.values())))
    times = pa.array([NOW] * rows, pa.timestamp("us", "UTC"))
    return pa.RecordBatch.from_pydict({**columns, "event_time": times})


def test_languages_are_told_by_their_frequent_words(tweets: list[dict[str, str]]) -> None:
    """Most tweets have such words, and then they are seldom another language's."""
    found = [(job.language(tweet["text"]), tweet["lang"]) for tweet in tweets]
    known = [(seen, true) for seen, true in found if seen != job.UNKNOWN]
    assert len(known) > 0.8 * len(found)
    assert sum(seen == true for seen, true in known) > 0.93 * len(known)


def test_scores_are_those_of_the_lexicon_s_own_package(tweets: list[dict[str, str]]) -> None:
    afinn = Afinn()
    texts = [tweet["text"] for tweet in tweets[:500]] + ["I LOVE it, really! Not bad.", ""]
    assert [job.score(text) for text in texts] == [afinn.score_with_wordlist(text) for text in texts]
    assert len({job.score(text) for text in texts}) > 5


def test_detect_leaves_out_what_is_no_tweet() -> None:
    tweet = json.dumps({"text": "This is the day", "user": {"screen_name": "ann"}})
    others = ["no json", None, "3", "[]", '{"text": "no user"}', '{"text": 1, "user": {"screen_name": "x"}}']
    (found,) = job.detect(iter([batch(key=["k"] * 7, value=[*others[:3], tweet, *others[3:]])]))
    assert found.to_pylist() == [{"event_time": NOW, "user": "ann", "text": "This is the day", "language": "en"}]
    (nothing,) = job.detect(iter([batch(key=["k"], value=["no json"])]))
    assert nothing.schema == found.schema, "an empty batch has its types too"


def test_sentiment_keeps_every_row_of_a_pandas_batch() -> None:
    rows = pd.DataFrame({"event_time": [NOW, NOW], "user": ["ann", "bob"], "text": ["good day", "what a day"]})
    (found,) = job.sentiment(iter([rows]))
    assert found.columns.tolist() == ["event_time", "user", "score"]
    assert found[["user", "score"]].to_numpy().tolist() == [["ann", 3], ["bob", 0]]


def test_top_speaks_on_its_timer_and_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between, it only listens; what it has told it forgets."""
    now_s = iter([0.0, 0.4, 1.1, 1.1, 1.5])
    monkeypatch.setattr(time, "monotonic", lambda: next(now_s))
    batches = [batch(window_s=[10], tag=[tag], n=[n]) for tag, n in (("a", 1), ("b", 5), ("c", 2))]
    told = [[(row["tag"], row["n"]) for row in spoken.to_pylist()] for spoken in job.top(iter(batches))]
    assert told == [[("b", 5), ("a", 1)], [("c", 2)]]


def test_a_ranking_has_the_time_of_its_newest_row() -> None:
    (told,) = job.top(iter([batch(window_s=[10, 10], tag=["a", "b"], n=[1, 1])]))
    assert told.column_names == ["event_time", "window_s", "tag", "n"]
    assert [row["event_time"] for row in told.to_pylist()] == [NOW, NOW]


@given(st.lists(st.tuples(st.sampled_from([0, 10]), st.integers(0, 25)), max_size=120), st.data())
def test_forgetting_loses_nothing_of_the_ranking(tags: list[tuple[int, int]], data: st.DataObject) -> None:
    """However often it speaks, and in whatever batches counts come: put together, the highest are the highest."""
    counts: Counter[tuple[int, str]] = Counter()
    rows = []
    for window_s, number in tags:
        counts[window_s, f"t{number}"] += 1
        rows.append((window_s, f"t{number}", counts[window_s, f"t{number}"]))
    told: dict[int, dict[str, int]] = {}
    while rows:
        size = data.draw(st.integers(1, len(rows)))
        task, rows = rows[:size], rows[size:]  # a task ends with its batch of the query, and forgets
        for spoken in job.top(iter([batch(window_s=[w], tag=[t], n=[n]) for w, t, n in task])):
            for row in spoken.to_pylist():
                window = told.setdefault(row["window_s"], {})
                window[row["tag"]] = max(row["n"], window.get(row["tag"], 0))
    assert told.keys() == {window_s for window_s, _ in counts}
    for window_s, window in told.items():
        true = [(tag, n) for (of, tag), n in counts.items() if of == window_s]
        assert highest(window.items()) == highest(true)
