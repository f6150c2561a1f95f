"""Spark's daemon of Python workers, which imports what every worker needs before it forks one.

Spark's own forks bare workers, each of which imports PySpark's worker, Arrow and pandas for itself. All workers of a
deployment start at once, and those of the one before ended with its queries: dozens of them keep two cores busy for
longer than the windows that are wanted (scripts/benches/results/deployment.md). Spark forks before it imports because
some libraries start threads, which a fork loses; Arrow, its allocators and numpy renew theirs in a forked process.

It runs where this package is installed: on this machine, not on a cluster's.
"""

from __future__ import annotations

import contextlib
import gc
import sys


def main() -> None:
    """Import, then serve; the first thing on standard output must be the port, so what imports print goes elsewhere."""
    with contextlib.redirect_stdout(sys.stderr):
        import pandas  # noqa: F401, ICN001, PLC0415 - imported for the workers
        import pyarrow  # noqa: F401, ICN001, PLC0415
        import pyspark.sql.pandas.serializers  # noqa: PLC0415
        import pyspark.worker  # noqa: F401, PLC0415
        from pyspark.daemon import manager  # noqa: PLC0415
    gc.collect()
    gc.freeze()  # what is never collected is never written to, and stays one for all workers
    manager()


if __name__ == "__main__":
    main()
