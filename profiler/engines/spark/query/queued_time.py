"""How long a user's batch function waited for a core: time in which it neither worked nor waited for anything else.

Linux keeps that account for every thread (`/proc/thread-self/schedstat`, its second figure, in nanoseconds). Reading it
around every batch of rows costs about four microseconds, so it is done only where an operator's class is asked for.

This module travels to the workers by value: they need not have the profiler installed.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from pyspark import cloudpickle

ACCOUNT = "/proc/thread-self/schedstat"
"""The file that tells what the calling thread waited for a core."""


class QueuedTime:
    """Adds up what one function waited for a core, the time in which it was fed left out; 0 where nobody counts."""

    def __init__(self) -> None:
        self.total_s = 0.0
        self._fed_s = 0.0

    def around(self, function: Callable[..., Any]) -> Callable[[Iterator[Any]], Iterator[Any]]:
        """Give the same function, watched."""

        def watched(batches: Iterator[Any]) -> Iterator[Any]:
            with account() as queued_s:
                results = iter(function(self._fed(batches, queued_s)))
                while True:
                    start_s = queued_s() - self._fed_s
                    try:
                        result = next(results, None)
                    finally:
                        self.total_s += queued_s() - self._fed_s - start_s
                    if result is None:
                        return
                    yield result

        return watched

    def _fed(self, batches: Iterator[Any], queued_s: Callable[[], float]) -> Iterator[Any]:
        source = iter(batches)
        while True:
            start_s = queued_s()
            try:
                batch = next(source, None)
            finally:
                self._fed_s += queued_s() - start_s
            if batch is None:
                return
            yield batch


@contextlib.contextmanager
def account() -> Iterator[Callable[[], float]]:
    """Open the account of the calling thread; one that always says 0 where the system keeps none."""
    try:
        file = os.open(ACCOUNT, os.O_RDONLY)
    except OSError:
        yield lambda: 0.0
        return
    try:
        yield lambda: int(os.pread(file, 100, 0).split()[1]) / 1e9
    finally:
        os.close(file)


cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
