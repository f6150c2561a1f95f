"""The bench of settings that trade throughput for latency: what its blocks come to."""

from __future__ import annotations

import numpy as np
import pytest

from profiler.experiment.latency_rows import as_text
from scripts.benches.levers import WAITS_MS, job_rows


def block(per_s, latency_ms):
    told = {"per_s": per_s, "rows": [as_text(np.full(100, latency_ms), np.ones(100))], "end_to_end": []}
    return {"per_s": per_s, "small": told, "probe": told}


def test_a_value_is_compared_with_spark_s_own_within_each_turn():
    """What the machine does to a turn, it does to all values; the latency is that of the rows of all turns."""
    turns = [
        {str(wait): block(speed * (900.0 if wait == 10 else 1000.0), float(wait)) for wait in WAITS_MS}
        for speed in (1.0, 0.5, 0.8)
    ]
    rows = {row["quantity"]: row for row in job_rows("job", turns)}
    assert rows["job, 10 ms: throughput"]["ours"] == pytest.approx(0.9)
    assert rows["job, 25 ms: throughput"]["ours"] == pytest.approx(1.0)
    assert "job, 50 ms: throughput" not in rows
    assert rows["job, 10 ms: p95 at 690 rows/s"]["ours"] == pytest.approx(10.0, rel=0.01)
    assert rows["job, 10 ms: p95 at 690 rows/s"]["n"] == 3
