"""Workloads that ship with the profiler, one readable file each; this is their catalogue.

Names map to `module:attribute`, imported only when asked for. An attribute may be a factory: its parameters are set
as in `linear?depth=6`.
"""

from __future__ import annotations

WORKLOADS: dict[str, str] = {
    "linear": "linear:linear",
    "diamond": "diamond:diamond",
    "star": "star:star",
    "word-count": "word_count:topology",
    "synthetic-word-count": "synthetic_word_count:synthetic_word_count",
    "twitter-sentiment": "twitter_sentiment:topology",
    "random-dag": "random_dag:random_dag",
}

DATA: dict[str, str] = {"tweets": "tweets:cached_tweets"}
"""Makers of data that a source may name as its payloads: functions from the cache directory to a file in it."""
