"""The collector of sampled rows: a thread that reads the side topic outside Spark and keeps latencies, live."""

from __future__ import annotations

import threading
import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from confluent_kafka import Message

from profiler.engines.spark.load.branch_progress import Looks
from profiler.engines.spark.load.side_topic import SideTopicReader
from profiler.engines.spark.load.throttle import Arrivals
from profiler.engines.spark.query.rows import latencies_ms
from profiler.experiment.latency_rows import Floats, as_text
from profiler.experiment.observation import Latency
from profiler.experiment.quantiles import QUANTILES

Weigh = Callable[[Floats], Floats]
"""A function that tells how much rows count that were read at some times (seconds since the epoch)."""
Held = Callable[[Floats], Floats]
"""A function that tells for how many seconds rows of some due times (seconds since the epoch) had been held back."""


@dataclass(frozen=True, slots=True)
class SampledLatency:
    """What the sampled rows of a span tell."""

    processing: Latency
    """From the read at the source to the sink; not-a-number without any sampled row."""
    processing_rows: str | None
    """The same row by row, as a text."""
    end_to_end_rows: str | None
    """From the time that a row was due to the sink, likewise."""


class SampleCollector:
    """Reads a side topic from its beginning until it is closed."""

    telling: frozenset[str] | None = None
    """Queries that tell how far they are; None, as one query is all there is."""

    def __init__(self, address: str, topic: str) -> None:
        """Start to read."""
        self._stamps_us = array("q")
        self._arrived_ms = array("q")
        self._looks = Looks()
        self._lock = threading.Lock()
        self._reader = SideTopicReader(address, topic, [0], self._take)

    def arrivals(self) -> Arrivals:
        """Tell what has come out in the last moment."""
        with self._lock:
            return self._looks.arrivals(time.time())

    def between(self, start_s: float, end_s: float, held_s: Held, weigh: Weigh) -> SampledLatency:
        """Give the latencies of the sampled rows that arrived in a span, and forget older ones.

        Rows that were held back would have been due earlier in an open loop, by what `held_s` tells of them; `weigh`
        tells how much rows read at some times count.
        """
        start_ms, end_ms = start_s * 1000, end_s * 1000
        with self._lock:
            stamps, arrived = np.array(self._stamps_us), np.array(self._arrived_ms)
            kept = arrived >= start_ms
            self._stamps_us, self._arrived_ms = array("q", stamps[kept].tolist()), array("q", arrived[kept].tolist())
        chosen = kept & (arrived < end_ms)
        due_ms, processing = stamps[chosen] // 1000, latencies_ms(stamps[chosen], arrived[chosen])
        end_to_end = arrived[chosen] - due_ms + 1000 * held_s(due_ms / 1000)
        weights = weigh((arrived[chosen] - processing) / 1000)
        return SampledLatency(summary(processing, weights), as_text(processing, weights), as_text(end_to_end, weights))

    def close(self) -> None:
        """Stop reading; calling it twice is fine."""
        self._reader.close()

    def _take(self, samples: Sequence[Message]) -> None:
        stamps = [(int(sample.key() or 0), sample.timestamp()[1]) for sample in samples]
        newest_due_s = max(stamp for stamp, _ in stamps) / 1e6
        with self._lock:
            self._stamps_us.extend(stamp for stamp, _ in stamps)
            self._arrived_ms.extend(arrived for _, arrived in stamps)
            self._looks.add(time.time(), len(stamps), newest_due_s)


def summary(values: Floats, weights: Floats) -> Latency:
    """Give the mean and the quantiles of weighted values: the smallest below which that part of the weight lies."""
    if not len(values):
        nothing = float("nan")
        return Latency(nothing, nothing, nothing, nothing, nothing)
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    places = np.searchsorted(below, np.array(QUANTILES) * below[-1])
    return Latency(float(np.average(values, weights=weights)), *values[order][places].tolist())
