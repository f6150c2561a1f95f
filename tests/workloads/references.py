"""What every workload must give for some messages, in plain Python: no Spark, no batches, no state."""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from afinn import Afinn
from messages import Message
from profiler.shipped.kinds import NUMBERS
from profiler.shipped.twitter_sentiment import FUNCTION_WORDS, TOP, WINDOW_S

from profiler.job.random_numbers import INCREMENT, MODULUS, MULTIPLIER

Rows = Counter[tuple[Any, ...]]
"""Rows as tuples, in any order, with how often each occurs."""


def linear(messages: Iterable[Message], operators: int = 3, selectivity: float = 1.0) -> Rows:
    """Time and number of every row."""
    rows: Rows = Counter()
    for message in messages:
        number, copies = zlib.crc32(message.value.encode()), 1
        for _ in range(operators):
            number = _last_number(number)
            copies *= _copies(str(number), selectivity)
        if copies:
            rows[message.at_ms, number] += copies
    return rows


def diamond(messages: Iterable[Message]) -> Rows:
    """Time, key, id and text of every row: three keep their key, one has its last random number."""
    rows: Rows = Counter()
    for message in messages:
        tweet = json.loads(message.value)
        drawn = str(_last_number(zlib.crc32(message.value.encode())))
        rows.update((message.at_ms, key, tweet["id"], tweet["text"]) for key in (drawn, *[message.key] * 3))
    return rows


def star(messages: Iterable[Message], copies: int = 1) -> Rows:
    """Time, sink, id and what the sink says, of every row."""
    rows: Rows = Counter()
    for message in messages:
        tweet = json.loads(message.value)
        rows[message.at_ms, "store", tweet["id"], tweet["text"]] += copies
        rows[message.at_ms, "publish", tweet["id"], tweet["user"]["screen_name"]] += copies
    return rows


def word_counts(messages: Iterable[Message]) -> Counter[str]:
    """How often every word occurs."""
    return Counter(word for message in messages for word in (_text(message) or "").lower().split())


def moods(messages: Iterable[Message]) -> dict[str, tuple[int, float, str]]:
    """Number of English tweets, average score and mood by author."""
    afinn = Afinn()
    scores: dict[str, list[float]] = {}
    for message in messages:
        text = _text(message)
        if text is not None and _language(text) == "en":
            author = json.loads(message.value)["user"]["screen_name"]
            scores.setdefault(author, []).append(afinn.score_with_wordlist(text))
    averages = {author: (len(given), sum(given) / len(given)) for author, given in scores.items()}
    return {author: (tweets, average, _mood(average)) for author, (tweets, average) in averages.items()}


def hashtag_rankings(messages: Iterable[Message]) -> dict[int, list[tuple[str, int]]]:
    """The most frequent hashtags of every window with their counts, the first in the alphabet first among equals."""
    windows: dict[int, Counter[str]] = {}
    for message in messages:
        tags = re.findall("#([a-z0-9_]+)", (_text(message) or "").lower())
        if tags:
            windows.setdefault(message.at_ms // 1000 // WINDOW_S * WINDOW_S, Counter()).update(tags)
    return {window: highest(counts.items()) for window, counts in windows.items()}


def highest(counts: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    return sorted(counts, key=lambda counted: (-counted[1], counted[0]))[:TOP]


def _last_number(number: int) -> int:
    for _ in range(NUMBERS):
        number = (number * MULTIPLIER + INCREMENT) % MODULUS
    return number


def _copies(column: str, selectivity: float) -> int:
    whole, part = divmod(selectivity, 1)
    return int(whole) + (zlib.crc32(column.encode()) % 1000 < 1000 * part)


def _text(message: Message) -> str | None:
    try:
        tweet = json.loads(message.value)
    except ValueError:
        return None
    return tweet.get("text") if isinstance(tweet, dict) else None


def _language(text: str) -> str:
    words: Sequence[str] = text.lower().split()
    counts = {name: sum(word in frequent.split() for word in words) for name, frequent in FUNCTION_WORDS.items()}
    most = max(counts.values())
    return next(name for name, count in counts.items() if count == most) if most else "und"


def _mood(average: float) -> str:
    return "cheerful" if average >= 1 else "gloomy" if average <= -1 else "calm"
