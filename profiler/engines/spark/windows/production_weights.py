"""Latencies of short batches, weighed as in the long ones of production.

Between two batches nothing is read for a third of a second, and what has gathered meanwhile is caught up at the
beginning of the next one. With batches of 3 s, which are the search's windows, that is a good part of all rows, and a
p95 would tell of little else; with the 30 s of production it is a tenth as many. So the rows that are read when a query
has settled, some time after its batch began, stand for all that a long batch would go on to read, and the others count
as often as there are batches:

    weight of a settled row : of any other row  =  (production − unsettled) / (window − unsettled)  :  1.

A job of several queries has as many pauses, each at its own time, and a row meets all that it passes. So a row is
settled where all queries are, and one that meets two pauses at once counts twice, as a long batch has them one after
the other. A query that reads from another one's topic finds there what came during its pause: its rows are unsettled
from a little before its batch began. Weighed by the first query alone, what another one's pause makes late in a settled
part would count as if it were always so.

The verification, which runs with production's batches, weighs nothing, and says whether that was right.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from profiler.engines.spark.windows.latency import Weigh
from profiler.experiment.latency_rows import Floats

SETTLED_S = 2.0
"""Seconds after a batch's begin in which what had gathered is caught up."""
PAUSE_S = 0.5
"""Seconds before an inner query's batch in which rows come that it will find waiting."""
MOST_UNSETTLED = 2 / 3
"""Part of a window that may count as unsettled, all queries together: else too little would stand for the rest."""
_GRID = 600


def as_in(production_s: float, window_s: float, batch_starts_s: Sequence[float]) -> Weigh:
    """Return how much rows count, by when they were read: given are the begins of one batch of every query.

    The first query is the one that reads the sources.
    """
    lead_s, *inner_s = batch_starts_s
    wanted_s = SETTLED_S * len(batch_starts_s) + PAUSE_S * len(inner_s)
    part = min(1.0, MOST_UNSETTLED * window_s / wanted_s)

    def pauses_met(read_s: Floats) -> Floats:
        met = (read_s - lead_s < part * SETTLED_S).astype(np.float64)
        for start_s in inner_s:
            # Its batch before and its next one are seen, too: its batches begin whenever they do.
            met += (read_s - start_s + part * PAUSE_S) % window_s < part * (SETTLED_S + PAUSE_S)
        return met

    met = pauses_met(lead_s + window_s * (np.arange(_GRID) + 0.5) / _GRID)
    settled_s = window_s * float(np.mean(met == 0))
    weight = (production_s - window_s * float(np.mean(met))) / settled_s if settled_s else 1.0

    def weigh(read_s: Floats) -> Floats:
        if production_s <= window_s:
            return np.ones_like(read_s)
        met = pauses_met(read_s)
        return np.where(met > 0, met, weight)

    return weigh
