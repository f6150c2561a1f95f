"""How fast the machine is right now: CPU time of a small fixed piece of work, eight times a second, in its own thread.

Shared machines change speed under a measurement, by what neighbours do to caches, memory and clock rate. CPU time does
not count waiting for a core or for Python's lock, so what is left is how long the same work takes:

    speed index of a span = CPU time of the work in the run's first seconds / its mean CPU time in the span,

1 is normal, 0.8 a fifth slower. The work is to fetch numbers from random places of an array that no core's own cache
holds, as that is what neighbours disturb and what a job does all the time. It takes about 1 ms: 1 % of a core.

CPU per row × index varies less with this work than with arithmetic, which a job's CPU time follows only in part, so
that it is made noisier (scripts/benches/results/speed-index.md).
"""

from __future__ import annotations

import statistics
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

import numpy as np

EVERY_S = 0.125
FIRST_SAMPLES = 16
"""The number of samples in the run's first two seconds, which later ones are compared with."""
_KEPT = 40_000
"""The number of samples that are kept: more than an hour of them."""
_ARRAY = 2_000_000
"""The length of the array, in numbers of eight bytes: more than a core's own cache holds."""
_FETCHED = 60_000


class RandomPlaces:
    """The fixed work: the same numbers, fetched from the same places in the same order."""

    def __init__(self) -> None:
        rng = np.random.default_rng(1)
        self._numbers = rng.integers(0, 100, _ARRAY)
        self._places = rng.integers(0, _ARRAY, _FETCHED)

    @property
    def size_bytes(self) -> int:
        """The memory that the numbers lie in."""
        return int(self._numbers.nbytes)

    def __call__(self) -> float:
        """Do it, and tell the CPU time that it took."""
        start_s = time.thread_time()
        self._numbers[self._places].sum()
        return time.thread_time() - start_s


def speed_index(samples: Sequence[float], reference_s: float) -> float:
    """Compare samples with the reference; 1 where there is none to compare."""
    return reference_s / statistics.fmean(samples) if samples and reference_s > 0 else 1.0


class SpeedIndex:
    """Samples the machine's speed from its start to its end."""

    def __init__(self, *, every_s: float = EVERY_S, sample: Callable[[], float] | None = None) -> None:
        self._every_s = every_s
        self._sample = sample or RandomPlaces()
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
        """CPU time of the work at speed 1; None before the first sample."""
        with self._lock:
            return self._reference_s or None

    def compare_with(self, reference_s: float) -> None:
        """Count another CPU time of the work as speed 1, so that indices of two runs have one measure."""
        with self._lock:
            self._reference_s, self._is_given = reference_s, True

    def add(self, at_s: float, cost_s: float) -> None:
        """Note what the work took at a time (seconds since the epoch)."""
        with self._lock:
            self._times_s.append(at_s)
            self._costs_s.append(cost_s)
            if len(self._costs_s) <= FIRST_SAMPLES and not self._is_given:
                # The median: a single sample that met an interrupt must not scale the whole run.
                self._reference_s = statistics.median(self._costs_s)
            if len(self._costs_s) > _KEPT:
                del self._times_s[: _KEPT // 2], self._costs_s[: _KEPT // 2]

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
        self._sample()  # the first one finds its array nowhere near
        while not self._ended.wait(self._every_s):
            self.add(time.time(), self._sample())
