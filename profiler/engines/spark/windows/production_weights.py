"""Latencies of short batches, weighed as in the long ones of production.

Between two batches nothing is read for a third of a second, and what has gathered meanwhile is caught up in the first
part of the next one. With batches of 3 s, which are the search's windows, that is a good part of all rows, and a p95
would tell of little else; with the 30 s of production it is a tenth as many. So of a short batch the rows read in its
last third stand for all that a long batch would go on to read, and the others count as often as there are batches:

    weight of the rows in the last third : of any other row  =  1 + 3 · (production / window − 1)  :  1

The verification, which runs with production's batches, weighs nothing, and says whether that was right.
"""

from __future__ import annotations

import numpy as np

from profiler.engines.spark.windows.latency import Floats, Weigh

SETTLED_PART = 1 / 3


def as_in(production_s: float, window_s: float, batch_start_s: float) -> Weigh:
    """Return how much rows of a batch count, by when they were read."""
    longer = max(0.0, production_s / window_s - 1)
    settled_s = batch_start_s + (1 - SETTLED_PART) * window_s

    def weigh(read_s: Floats) -> Floats:
        return np.where(read_s >= settled_s, 1 + longer / SETTLED_PART, 1.0)

    return weigh
