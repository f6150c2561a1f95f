"""How often values of key columns occur in sampled rows that come out, to name a key that most rows share.

Only with full detail, in the first round, where every operator has one task and no task could betray a hot key. A key
that does not come out with its rows cannot be counted.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterable

from profiler.topology import Topology

FEWEST = 200
"""Sampled rows below which nothing is said: a share of 50 % is known to 7 points then."""


class KeyCounts:
    """Counts the values of some columns."""

    def __init__(self, columns: Iterable[str]) -> None:
        self._counts: dict[str, Counter[str]] = {column: Counter() for column in columns}
        self._lock = threading.Lock()
        """Rows are added by the thread that collects them."""

    def __bool__(self) -> bool:
        return bool(self._counts)

    def add(self, message: bytes | None) -> None:
        """Count a row as it is in its topic: JSON with all columns, or its column `value` alone."""
        text = (message or b"").decode(errors="replace")
        try:
            row = json.loads(text)
        except ValueError:
            row = None
        with self._lock:
            for column, counts in self._counts.items():
                if isinstance(row, dict) and column in row:
                    counts[str(row[column])] += 1
                elif column == "value":
                    counts[text] += 1

    def most_frequent(self, column: str) -> tuple[str, float] | None:
        """Give the most frequent value of a column with its share of the rows; None where too few were seen."""
        with self._lock:
            counts = self._counts.get(column, Counter())
            total = counts.total()
            if total < FEWEST:
                return None
            ((value, count),) = counts.most_common(1)
        return value, count / total


def key_columns(topology: Topology) -> frozenset[str]:
    """Give the columns by which operators are keyed."""
    return frozenset(operator.key for operator in topology.operators if operator.key is not None)
