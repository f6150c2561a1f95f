"""How fast the machine is right now: CPU time of a small fixed loop, four times a second, in a thread of its own.

Shared machines change speed under a measurement, by what neighbours do to caches, memory and clock rate. CPU time does
not count waiting for a core or for Python's lock, so what is left is how long the same work takes:

    speed index of a span = CPU time of the loop in the run's first seconds / its mean CPU time in the span,

1 is normal, 0.8 a fifth slower. The loop takes about 2.5 ms, so four of them a second cost 1 % of a core.
"""

from __future__ import annotations

import statistics
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

EVERY_S = 0.25
FIRST_SAMPLES = 8
"""The run's first two seconds are what later ones are compared with."""
_LOOP = 40_000
_KEPT = 20_000
"""More than an hour of samples."""


def loop_cpu_s() -> float:
    """Do the fixed work and tell the CPU time it took."""
    start_s = time.thread_time()
    total = 0
    for number in range(_LOOP):
        total += number & 3
    return time.thread_time() - start_s


def speed_index(samples: Sequence[float], reference_s: float) -> float:
    """Compare loops with the reference; 1 where there is none to compare."""
    return reference_s / statistics.fmean(samples) if samples and reference_s > 0 else 1.0


class SpeedIndex:
    """Samples the machine's speed from its start to its end."""

    def __init__(self, *, every_s: float = EVERY_S, sample: Callable[[], float] = loop_cpu_s) -> None:
        self._every_s = every_s
        self._sample = sample
        self._times_s: list[float] = []
        self._costs_s: list[float] = []
        self._reference_s = 0.0
        self._is_given = False
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="profile-speed-index", daemon=True)

    def start(self) -> None:
        """Begin to sample."""
        self._thread.start()

    @property
    def reference_s(self) -> float | None:
        """CPU time of the loop at speed 1; None before the first sample."""
        with self._lock:
            return self._reference_s or None

    def compare_with(self, reference_s: float) -> None:
        """Count another CPU time of the loop as speed 1, so that indices of two runs have one measure."""
        with self._lock:
            self._reference_s, self._is_given = reference_s, True

    def between(self, start_s: float, end_s: float) -> float:
        """Give the speed index of a span (seconds since the epoch); of the nearest sample where it holds none."""
        with self._lock:
            first, last = bisect_left(self._times_s, start_s), bisect_left(self._times_s, end_s)
            chosen = self._costs_s[first:last] or self._costs_s[max(0, first - 1) : first]
            return speed_index(chosen, self._reference_s)

    def close(self) -> None:
        """Stop sampling; calling it twice is fine."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _run(self) -> None:
        self._sample()  # the interpreter specialises code that has run once
        while not self._ended.wait(self._every_s):
            self._take(time.time(), self._sample())

    def _take(self, at_s: float, cost_s: float) -> None:
        with self._lock:
            self._times_s.append(at_s)
            self._costs_s.append(cost_s)
            if len(self._costs_s) <= FIRST_SAMPLES and not self._is_given:
                # The median: a single loop that met an interrupt must not scale the whole run.
                self._reference_s = statistics.median(self._costs_s)
            if len(self._costs_s) > _KEPT:
                del self._times_s[: _KEPT // 2], self._costs_s[: _KEPT // 2]
