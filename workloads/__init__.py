"""Workloads that ship with the profiler, one readable file each; this is their catalogue.

Names map to `module:attribute`, imported only when asked for. An attribute may be a factory: its parameters are set
as in `linear?depth=6`.
"""

from __future__ import annotations

WORKLOADS: dict[str, str] = {
    "linear": "workloads.linear:linear",
    "diamond": "workloads.diamond:diamond",
    "star": "workloads.star:star",
    "word-count": "workloads.word_count:topology",
    "synthetic-word-count": "workloads.synthetic_word_count:synthetic_word_count",
    "twitter-sentiment": "workloads.twitter_sentiment:topology",
    "random-dag": "workloads.random_dag:random_dag",
}

DATA: dict[str, str] = {"tweets": "workloads.tweets:cached_tweets"}
"""Makers of data that a source may name as its payloads: functions from the cache directory to a file in it."""
