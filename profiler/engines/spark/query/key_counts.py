"""How often values of a keyed operator's key come into it, to name a key that most rows share.

Only with full detail, in the first round, where every operator has one task and no task could betray a hot key. Spark
itself counts the most frequent values of a batch before the operator, so what it drops or puts together counts too. A
key that the operator makes itself, of other columns, cannot be counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from profiler.job.topology import Operator

FEWEST = 200
"""Rows below which nothing is said: a share of 50 % is known to 7 points then."""
MOST_FREQUENT = 10
"""Values told of per batch: one that has a tenth of all rows is among them in every batch."""
KEYS_OF = "keys of "


def with_keys_counted(stream: DataFrame, operator: Operator) -> DataFrame:
    """Have the values of the operator's key counted in what comes into it, where they are there."""
    if operator.key is None or operator.key not in stream.columns:
        return stream
    values = F.col(f"`{operator.key}`").cast("string")
    most_frequent = F.call_function("approx_top_k", values, F.lit(MOST_FREQUENT))
    return stream.observe(KEYS_OF + operator.name, F.count(F.lit(1)).alias("rows"), most_frequent.alias("keys"))


@dataclass(slots=True)
class KeyCounts:
    """What was counted of the keys of some operators so far, over all batches."""

    _rows: Counter[str] = field(default_factory=Counter)
    _values: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, observed: Mapping[str, Any]) -> None:
        """Add what Spark observed of a batch."""
        for name, seen in observed.items():
            if name.startswith(KEYS_OF):
                operator = name.removeprefix(KEYS_OF)
                self._rows[operator] += int(seen["rows"])
                values = self._values.setdefault(operator, Counter())
                for each in seen["keys"] or ():
                    values[str(each["item"])] += int(each["count"])

    def most_frequent(self, operator: str) -> tuple[str, float] | None:
        """Give the most frequent value of a key and its share of the rows; None where too few were seen."""
        if self._rows[operator] < FEWEST or not self._values[operator]:
            return None
        ((value, count),) = self._values[operator].most_common(1)
        return value, count / self._rows[operator]
