"""The end of warm-up: from which window on a series looks stationary.

The rule is MSER (White 1997): cut off the first d windows so that the standard error of what remains is smallest,

    d = argmin  (Σ (x_t − mean)² + (n − d) · floor²) / (n − d)²      over the windows x_d … x_{n−1}

on logs. A warm-up inflates the spread of the remainder and is cut; noise does not pay for the windows it would cost.
It needs no noise level, no shape and no significance level. The floor of 1 % is a **choice**: without it a series
without noise would be cut until its last digit stands still. If the best cut leaves just the last three windows, the
series is still moving: None. A window without throughput is always before the steady part.

Ask again with every new window and go on until enough windows follow the start, as later windows show warm-up that
earlier ones could not; the windows from the start on count as measured, so that only cut windows are wasted.
Where ten windows follow, the bias that is left is well below the noise of their mean; where five follow, it is two to
three times as large (scripts/benches/results/statistics.md).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_FEWEST = 3
"""The number of windows that a steady part must exceed: fewer have a small spread by chance."""
_FLOOR = 0.01


def steady_start(values: Sequence[float]) -> int | None:
    """Return the index of the first window of the steady part, or None while the series still moves."""
    after_zero = max((index + 1 for index, value in enumerate(values) if value <= 0), default=0)
    logs = np.log(values[after_zero:])
    last = len(logs) - _FEWEST
    if last < 1:
        return None
    errors = []
    for start in range(last + 1):
        rest = logs[start:]
        errors.append((float(np.sum((rest - rest.mean()) ** 2)) + len(rest) * _FLOOR**2) / len(rest) ** 2)
    best = int(np.argmin(errors))
    return None if best == last else after_zero + best
