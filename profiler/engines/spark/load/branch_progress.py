"""How far every query of a DAG has come: a slow branch must not drown because a fast one shows that rows come out.

Where a plan has several queries, each sends a mark for every sampled row that leaves it: its stamp, to a partition of
its own in the topic of marks. What has come out of the job is what has come out of the query that is furthest behind,
measured by the queries that rows pass on their way there, as they wait for a batch in each of them.

A query that drops most rows, or emits on a timer, tells nothing: it would look as if it were behind. So in an engine's
first deployment of a topology all queries are waited for: until each has shown FEWEST_ROWS, or for PATIENCE_S after the
first mark. Those that have shown fewer by then, or less than TELLING of the rows they should have seen, are not looked
at any more, in later deployments neither.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace

from confluent_kafka import Message

from profiler.engines.spark.load.side_topic import SideTopicReader
from profiler.engines.spark.load.throttle import LOOK_S, Arrivals

FEWEST_ROWS = 8
TELLING = 0.125
"""A query tells that shows this part of the rows up to its newest one: in the worst case of several sources or branches
of which each takes its share, yet more than comes from a timer."""
LONG_LOOK_S = 3.0
"""Time over which it is told what has come out of a query: about a batch, as queries pause between batches at different
times, and after a pause comes a burst that is no capacity (scripts/benches/results/windows-of-dags.md)."""
PATIENCE_S = 15.0
"""Seconds of patience with a silent query: longer than Python workers take to start."""


class Looks:
    """What was read of a side topic lately: how many rows were new at each look, and the newest due time by then."""

    def __init__(self, look_s: float = LOOK_S) -> None:
        self._looks: deque[tuple[float, int, float]] = deque()
        self._look_s = look_s

    def add(self, at_s: float, count: int, newest_due_s: float) -> None:
        """Note a look."""
        before_s = self._looks[-1][2] if self._looks else 0.0
        self._looks.append((at_s, count, max(newest_due_s, before_s)))

    def arrivals(self, now_s: float) -> Arrivals:
        """Tell what has come out in the last moment."""
        while len(self._looks) > 1 and self._looks[1][0] <= now_s - self._look_s:
            self._looks.popleft()
        if not self._looks:
            return Arrivals()
        samples = sum(count for at_s, count, _ in self._looks if at_s > now_s - self._look_s)
        over_s = min(self._look_s, max(LOOK_S, now_s - self._looks[0][0]))
        return Arrivals(samples, self._looks[-1][2], self._looks[0][2], over_s)


class Furthest:
    """Puts the arrivals of several queries together: the one that is furthest behind counts."""

    def __init__(self, hops: Mapping[str, int], telling: frozenset[str] | None) -> None:
        """Take the queries with the number of them that a row has passed behind each.

        `telling` are those that an earlier deployment found to tell; None where there was none.
        """
        self._hops = hops
        self._looks = {query: Looks(LONG_LOOK_S) for query in hops}
        self.telling = None if telling is None else telling & self._looks.keys()
        """Queries whose marks are looked at; None while that is not known."""
        self._first_s: float | None = None
        self._shown: dict[str, set[float]] = {query: set() for query in hops}
        """Due times by query, while it is not known which of them tell; a row may give several marks."""

    def add(self, query: str, at_s: float, dues_s: list[float]) -> None:
        """Note marks of a query that were read at a time."""
        if dues_s:
            self._looks[query].add(at_s, len(dues_s), max(dues_s))
            self._first_s = self._first_s or at_s
            if self.telling is None:
                self._shown[query].update(dues_s)

    def arrivals(self, now_s: float) -> Arrivals:
        """Tell what has come out of all queries in the last moment; nothing, as long as one is waited for."""
        if self.telling is None:
            enough = frozenset(query for query, dues_s in self._shown.items() if len(dues_s) >= FEWEST_ROWS)
            is_patient = self._first_s is None or now_s - self._first_s < PATIENCE_S
            if is_patient and enough != self._shown.keys():
                return Arrivals()
            self.telling = frozenset(query for query in enough if self._part_shown(query) >= TELLING)
        found = [replace(self._looks[query].arrivals(now_s), hops=self._hops[query]) for query in sorted(self.telling)]
        return max(found, key=lambda each: (now_s - each.newest_due_s) / each.hops, default=Arrivals())

    def _part_shown(self, query: str) -> float:
        """Tell which part of the rows up to its newest one a query has shown, whether it is slow or not."""
        newest_due_s = max(self._shown[query])
        due = {due_s for dues_s in self._shown.values() for due_s in dues_s if due_s <= newest_due_s}
        return len(self._shown[query]) / len(due)


class ChainProgress:
    """Reads the topic of marks until it is closed."""

    def __init__(self, address: str, topic: str, hops: Mapping[str, int], telling: frozenset[str] | None) -> None:
        """Start to read; the queries have partitions in the order in which they are given."""
        self._queries = dict(enumerate(hops))
        self._furthest = Furthest(hops, telling)
        self._lock = threading.Lock()
        self._reader = SideTopicReader(address, topic, self._queries, self._take)

    @property
    def telling(self) -> frozenset[str] | None:
        """Queries that tell how far they are; None while that is not known."""
        with self._lock:
            return self._furthest.telling

    def arrivals(self) -> Arrivals:
        """Tell what has come out of all queries in the last moment."""
        with self._lock:
            return self._furthest.arrivals(time.time())

    def close(self) -> None:
        """Stop reading; calling it twice is fine."""
        self._reader.close()

    def _take(self, marks: Sequence[Message]) -> None:
        now_s = time.time()
        with self._lock:
            for partition, query in self._queries.items():
                dues_s = [int(mark.key() or 0) / 1e6 for mark in marks if mark.partition() == partition]
                self._furthest.add(query, now_s, dues_s)
