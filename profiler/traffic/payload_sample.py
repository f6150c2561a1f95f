"""What a stream is like, by a sample of its workload file: sizes of messages, and how often keys occur.

Two samples are told apart by tests with a strict level, as there are thousands of messages, and by how large the
difference is: one that is certain and small does not change what a job costs.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from profiler.traffic.generator.payloads import Message

SAMPLED = 5000
LEVEL = 0.001
"""Significance level of each test."""
LARGER = 0.05
"""Change of the mean size that matters."""
MORE_KEYS = 0.25
"""Change of the number of different keys in a sample that matters."""
KEY_SHARE = 0.02
"""Change of a part of the messages that matters, in parts of all."""


@dataclass(frozen=True, slots=True)
class PayloadSample:
    """Statistics of evenly spaced messages of one workload file."""

    messages: int
    """Messages in the whole file."""
    sampled: int
    mean_bytes: float
    sd_bytes: float
    p95_bytes: float
    keyed: float
    """Part of the messages that have a key."""
    distinct_keys: int
    top_key_share: float
    """Part of the messages that have the most frequent key."""


def sample_of(sample: Sequence[Message], messages: int) -> PayloadSample:
    """Take the statistics of messages that were drawn from so many."""
    sizes = sorted(len(message.value) for message in sample)
    keys = Counter(message.key for message in sample if message.key is not None)
    return PayloadSample(
        messages=messages,
        sampled=len(sample),
        mean_bytes=statistics.fmean(sizes),
        sd_bytes=statistics.stdev(sizes) if len(sizes) > 1 else 0.0,
        p95_bytes=float(sizes[min(len(sizes) - 1, int(0.95 * len(sizes)))]),
        keyed=keys.total() / len(sample),
        distinct_keys=len(keys),
        top_key_share=max(keys.values(), default=0) / len(sample),
    )


def sample_differences(before: PayloadSample, now: PayloadSample) -> Iterator[str]:
    """Say in what two samples differ so much that a job may cost another amount."""
    if _larger_or_smaller(before, now):
        change = now.mean_bytes / before.mean_bytes - 1
        yield f"messages have {now.mean_bytes:,.0f} bytes on average, had {before.mean_bytes:,.0f} ({change:+.0%})"
    if _share_moved(before.keyed, before.sampled, now.keyed, now.sampled):
        yield f"{now.keyed:.0%} of the messages have a key, it was {before.keyed:.0%}"
    if _share_moved(before.top_key_share, before.sampled, now.top_key_share, now.sampled):
        yield f"the most frequent key has {now.top_key_share:.0%} of the messages, had {before.top_key_share:.0%}"
    if _more_or_fewer_keys(before, now):
        yield f"{now.distinct_keys:,} different keys in a sample, there were {before.distinct_keys:,}"


def _larger_or_smaller(before: PayloadSample, now: PayloadSample) -> bool:
    if before.mean_bytes <= 0 or abs(now.mean_bytes / before.mean_bytes - 1) < LARGER:
        return now.mean_bytes > 0 >= before.mean_bytes
    if before.sd_bytes == now.sd_bytes == 0:
        return True
    found = stats.ttest_ind_from_stats(
        now.mean_bytes, now.sd_bytes, now.sampled, before.mean_bytes, before.sd_bytes, before.sampled, equal_var=False
    )
    return float(found.pvalue) < LEVEL


def _share_moved(before: float, n_before: int, now: float, n_now: int) -> bool:
    if abs(now - before) < KEY_SHARE:
        return False
    hits, past = round(now * n_now), round(before * n_before)
    table = np.array([[hits, n_now - hits], [past, n_before - past]])
    return float(stats.fisher_exact(table).pvalue) < LEVEL


def _more_or_fewer_keys(before: PayloadSample, now: PayloadSample) -> bool:
    """Compare numbers of different keys, which only samples of about one size have in common."""
    if not 0.9 < now.sampled / before.sampled < 1 / 0.9 or not before.distinct_keys or not now.distinct_keys:
        return False
    few, many = sorted((before.distinct_keys, now.distinct_keys))
    return many > (1 + MORE_KEYS) * few and float(stats.poisson.sf(many - 1, few)) < LEVEL
