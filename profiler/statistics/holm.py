"""Several criteria, one family error: Holm's step-down adjustment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return the adjusted p values, in the order given; those below alpha are rejected with family error alpha.

    The i-th smallest of m is multiplied by m − i (i from 0) and never falls below the one before it
    (Holm 1979). scipy adjusts for the false discovery rate only.
    """
    order = np.argsort(p_values, kind="stable")
    scaled = np.asarray(p_values, dtype=np.float64)[order] * np.arange(len(order), 0, -1)
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return tuple(adjusted.tolist())
