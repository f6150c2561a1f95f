"""Twitter sentiment: what English tweets feel like, author by author, and which hashtags are used the most just now.

After the paper's topology of that name, a tree of 11 operators that is 8 deep with its source:

    tweets → store → detect → english → sentiment → average → mood
                            → tags → count → top → ranking → publish

SQL and Python operators are mixed, three of them keep state, and the stream parts behind `detect`.

- `store` stands for a database that takes half a millisecond to answer: it waits, and writes nothing. A file would fill
  the disk at thousands of tweets per second, and tasks that share one would slow each other down.
- In real-time mode an aggregation emits a row for every row it gets, so `average` and `count` are proportional. What
  they count is kept for good, as there is no watermark: restart the job before its state outgrows the memory.
- `top` is one task that speaks once a second, whatever it hears: its output depends on its logic, and the operators
  after it (`ranking`, `publish`) have next to nothing to do. It gives the highest counts among the hashtags of the last
  second and forgets them. Nothing is lost by that: when a hashtag is seen for the last time in a window, no other is
  ahead of it that is not ahead in the end, so it is given then. `ranking` keeps the last word on each.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from profiler import Batches, Cost, Operator, Output, Source, Topology

from .kinds import SOURCE_ROW, waiting

if TYPE_CHECKING:
    from pandas import DataFrame as PandasFrame
    from pyarrow import RecordBatch
    from pyspark.sql import DataFrame

# PySpark, pandas and PyArrow are imported where they are used: a simulated run does not wait for them.

STORE_MS = 0.5
WINDOW_S = 10
TOP = 10
SPEAKS_EVERY_S = 1.0
UNKNOWN = "und"

FUNCTION_WORDS = {
    "en": "the and you that this with for are was have not but your what just they from all will my is it of to",
    "es": "el los las una por con para pero como más está muy qué yo mi su es y del lo en al se",
    "pt": "o os uma não em você mas mais muito da do na no eu foi são isso ele ela também é com para",
    "fr": "le les des une est pour qui dans pas sur je il vous avec mais au du et ne ce nous sont",
    "de": "der die das und ist nicht ich ein eine mit auf für den von zu sich auch es wir sie dem im",
    "it": "il di che non per una sono mi ho ma è gli della questo con anche ti lo più come si io",
}
LANGUAGES_OF_WORD = {
    word: [language for language, words in FUNCTION_WORDS.items() if word in words.split()]
    for word in " ".join(FUNCTION_WORDS.values()).split()
}
"""The languages in which a word is one of the most frequent ones."""


def _afinn_scores() -> dict[str, int]:
    """Read AFINN, English words rated from -5 to 5, from the package `afinn`.

    Only its data are used: its own scorer takes much longer per tweet than a dictionary
    (scripts/benches/results/workloads.md).
    """
    package = find_spec("afinn")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("The package 'afinn' is missing.", name="afinn")
    lines = (Path(package.origin).parent / "data" / "AFINN-en-165.txt").read_text(encoding="utf-8").splitlines()
    return {word: int(score) for word, score in (line.split("\t") for line in lines)}


AFINN = _afinn_scores()
_WORD = re.compile(r"\w+")


def language(text: str) -> str:
    """Tell the language that most function words of a text belong to; of several the one named first above."""
    found = Counter(language for word in text.lower().split() for language in LANGUAGES_OF_WORD.get(word, ()))
    return max(FUNCTION_WORDS, key=lambda each: found[each]) if found else UNKNOWN


def score(text: str) -> int:
    """Add up the ratings of a text's words."""
    return sum(AFINN.get(word, 0) for word in _WORD.findall(text.lower()))


def detect(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
    """Parse tweets and tell their languages; a message that is no tweet is left out."""
    import pyarrow as pa  # noqa: PLC0415

    for batch in batches:
        tweets = [_tweet(message) for message in batch["value"].to_pylist()]
        found = [tweet for tweet in tweets if tweet is not None]
        columns = {
            "user": [tweet["user"]["screen_name"] for tweet in found],
            "text": [tweet["text"] for tweet in found],
            "language": [language(tweet["text"]) for tweet in found],
        }
        event_time = batch["event_time"].filter(pa.array([tweet is not None for tweet in tweets], pa.bool_()))
        strings = {name: pa.array(values, pa.string()) for name, values in columns.items()}
        yield pa.RecordBatch.from_pydict({"event_time": event_time, **strings})


def _tweet(message: str | None) -> dict[str, Any] | None:
    try:
        tweet: dict[str, Any] = json.loads(message or "")
        return tweet if isinstance(tweet["text"], str) and isinstance(tweet["user"]["screen_name"], str) else None
    except (ValueError, KeyError, TypeError):
        return None


def english(tweets: DataFrame) -> DataFrame:
    """Keep English tweets only: AFINN knows no other words."""
    return tweets.where("language = 'en'").select("event_time", "user", "text")


def sentiment(batches: Iterator[PandasFrame]) -> Iterator[PandasFrame]:
    """Score every tweet."""
    for batch in batches:
        yield batch.assign(score=[score(text) for text in batch.pop("text")])


def average(scores: DataFrame) -> DataFrame:
    """Keep the average score of every author."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    return scores.groupBy("user").agg(
        F.avg("score").alias("average"), F.count("*").alias("tweets"), F.last("event_time").alias("event_time")
    )


def mood(averages: DataFrame) -> DataFrame:
    """Put the average into words."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    words = F.when(F.col("average") >= 1, "cheerful").when(F.col("average") <= -1, "gloomy").otherwise("calm")
    return averages.select("event_time", "user", "tweets", "average", words.alias("mood"))


def tags(tweets: DataFrame) -> DataFrame:
    """Give one row per hashtag, with the window it falls into."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    found = F.regexp_extract_all(F.lower("text"), F.lit(r"#([a-z0-9_]+)"))
    window = F.floor(F.unix_seconds("event_time") / WINDOW_S) * WINDOW_S
    return tweets.select("event_time", window.alias("window_s"), F.explode(found).alias("tag"))


def count(tags: DataFrame) -> DataFrame:
    """Count every hashtag in every window."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    counts = tags.groupBy("window_s", "tag")
    return counts.agg(F.count("*").alias("n"), F.last("event_time").alias("event_time"))


def top(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
    """Once a second and at the end, give the highest counts of every window among those that came in since."""
    counts: dict[int, dict[str, int]] = {}
    newest: Any = None
    speaks_at_s = time.monotonic() + SPEAKS_EVERY_S
    for batch in batches:
        for window_s, tag, n in zip(*(batch[name].to_pylist() for name in ("window_s", "tag", "n")), strict=True):
            window = counts.setdefault(window_s, {})
            window[tag] = max(n, window.get(tag, 0))
        newest = batch["event_time"][-1] if batch.num_rows else newest
        if time.monotonic() >= speaks_at_s and counts:
            yield _highest(counts, newest)
            counts.clear()
            speaks_at_s = time.monotonic() + SPEAKS_EVERY_S
    if counts:
        yield _highest(counts, newest)


def _highest(counts: dict[int, dict[str, int]], newest: Any) -> RecordBatch:
    """Rank; the time of a ranking is that of the newest row in it."""
    import pyarrow as pa  # noqa: PLC0415

    rows = [
        (window_s, tag, n)
        for window_s, window in counts.items()
        for tag, n in sorted(window.items(), key=lambda counted: (-counted[1], counted[0]))[:TOP]
    ]
    windows_s, tags, ns = zip(*rows, strict=True)
    columns = {"window_s": pa.array(windows_s, pa.int64()), "tag": pa.array(tags), "n": pa.array(ns, pa.int64())}
    # Spark takes the columns by their place, in the order of the schema.
    return pa.RecordBatch.from_pydict({"event_time": pa.repeat(newest, len(rows)), **columns})


def ranking(tops: DataFrame) -> DataFrame:
    """Keep the highest count that was given for every hashtag of every window."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    given = tops.groupBy("window_s", "tag")
    return given.agg(F.max("n").alias("n"), F.last("event_time").alias("event_time"))


def publish(ranked: DataFrame) -> DataFrame:
    """Write a line that could be shown."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    line = F.format_string("#%s: %d", "tag", "n")
    return ranked.select("event_time", "window_s", "tag", "n", line.alias("line"))


topology = Topology(
    "twitter-sentiment",
    sources=[Source("tweets", payloads="tweets")],
    operators=[
        Operator(
            "store",
            waiting(STORE_MS),
            ["tweets"],
            output=Output.PROPORTIONAL,
            batches=Batches.ARROW,
            schema=SOURCE_ROW,
            cost=Cost(cpu_ms=0.05, wait_ms=STORE_MS),
        ),
        Operator(
            "detect",
            detect,
            ["store"],
            output=Output.PROPORTIONAL,
            batches=Batches.ARROW,
            schema="event_time timestamp, user string, text string, language string",
            cost=Cost(cpu_ms=0.1),
        ),
        Operator("english", english, ["detect"], output=Output.WORKLOAD, cost=Cost(cpu_ms=0.02), selectivity=0.5),
        Operator(
            "sentiment",
            sentiment,
            ["english"],
            output=Output.PROPORTIONAL,
            batches=Batches.PANDAS,
            schema="event_time timestamp, user string, score bigint",
            cost=Cost(cpu_ms=0.3),
        ),
        Operator("average", average, ["sentiment"], stateful=True, key="user", cost=Cost(cpu_ms=0.03)),
        Operator("mood", mood, ["average"], output=Output.PROPORTIONAL, cost=Cost(cpu_ms=0.01)),
        Operator("tags", tags, ["detect"], output=Output.WORKLOAD, cost=Cost(cpu_ms=0.02), selectivity=0.44),
        Operator("count", count, ["tags"], stateful=True, key="tag", cost=Cost(cpu_ms=0.03), hot_key_share=0.07),
        Operator(
            "top",
            top,
            ["count"],
            output=Output.LOGIC,
            parallel=False,
            batches=Batches.ARROW,
            schema="event_time timestamp, window_s bigint, tag string, n bigint",
            cost=Cost(cpu_ms=0.05),
            emits_per_s=TOP / SPEAKS_EVERY_S,
        ),
        Operator("ranking", ranking, ["top"], stateful=True, key="tag", cost=Cost(cpu_ms=0.03)),
        Operator("publish", publish, ["ranking"], output=Output.PROPORTIONAL, cost=Cost(cpu_ms=0.01)),
    ],
)
