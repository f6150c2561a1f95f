"""The maker of tweets: the same stream everywhere, and one that feels like tweets."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from profiler.shipped.tweets import MAX_CHARACTERS, cached_tweets, make_tweets

from profiler.shipped import tweets


def read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    path = tmp_path_factory.mktemp("tweets") / "tweets.gz"
    make_tweets(path, count=25_000, seed=1)
    return read(path)


def test_every_line_is_a_tweet(sample: list[dict[str, Any]]) -> None:
    """All fields are there, ids differ, and no text breaks the limit."""
    assert len(sample) == 25_000
    assert all(tweet.keys() == {"id", "created_at", "lang", "user", "text"} for tweet in sample)
    assert len({tweet["id"] for tweet in sample}) == len(sample)
    assert all(0 < len(tweet["text"]) <= MAX_CHARACTERS for tweet in sample)


def test_lengths_are_those_of_tweets(sample: list[dict[str, Any]]) -> None:
    """Half of them between a sentence and two; short ones and ones at the limit exist."""
    lengths = sorted(len(tweet["text"]) for tweet in sample)
    low, middle, high = (lengths[len(lengths) * part // 100] for part in (5, 50, 95))
    assert 10 < low < 50 < middle < 120 < high <= MAX_CHARACTERS


def test_as_many_are_made_as_the_study_had() -> None:
    """Where nobody asks for another number."""
    assert tweets.COUNT == 159_620


def test_few_words_make_up_much_of_the_stream(sample: list[dict[str, Any]]) -> None:
    """Zipf: as in English prose, a hundred words of thousands cover more than two fifths, and many occur once."""
    english = [tweet["text"] for tweet in sample if tweet["lang"] == "en"]
    words = Counter(word for text in english for word in text.split() if word[0] not in "@#")
    assert sum(count for _, count in words.most_common(100)) > 0.4 * words.total()
    assert sum(count == 1 for count in words.values()) > len(words) / 5


def test_languages_are_mixed_and_have_words_of_their_own(sample: list[dict[str, Any]]) -> None:
    """Language detection has something to find."""
    languages = Counter(tweet["lang"] for tweet in sample)
    assert len(languages) >= 5
    assert languages.most_common(1)[0][0] == "en"
    with_und = [tweet["lang"] for tweet in sample if "und" in tweet["text"].split()]
    assert with_und.count("de") == len(with_und) > 0


def test_some_tweets_have_hashtags(sample: list[dict[str, Any]]) -> None:
    """A ranking of hashtags has something to rank."""
    tagged = sum("#" in tweet["text"] for tweet in sample)
    assert 0.2 < tagged / len(sample) < 0.4


@pytest.mark.long
def test_the_seed_decides_every_byte(tmp_path: Path) -> None:
    """The same seed gives the same file, another seed another stream."""
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        make_tweets(tmp_path / name, count=500, seed=seed)
    contents = {name: (tmp_path / name).read_bytes() for name in "abc"}
    assert contents["a"] == contents["b"] != contents["c"]


def test_the_cache_is_filled_once(tmp_path: Path) -> None:
    """A second call finds the file of the first."""
    path = cached_tweets(tmp_path / "cache", count=100, seed=3)
    made = path.stat().st_mtime_ns
    assert cached_tweets(tmp_path / "cache", count=100, seed=3) == path
    assert path.stat().st_mtime_ns == made
    assert len(read(path)) == 100


def test_an_interrupted_maker_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a file would be taken for a whole one by the next run."""

    def interrupted(count: int, seed: int) -> Any:
        yield b"{}\n"
        raise KeyboardInterrupt

    monkeypatch.setattr(tweets, "tweet_blocks", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cached_tweets(tmp_path, count=100)
    assert list(tmp_path.iterdir()) == []
