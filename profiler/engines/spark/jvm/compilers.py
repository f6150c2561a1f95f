"""How busy the JVM's compilers are: they take a good part of two cores from a new session, and nothing of an old one.

What they take is neither the job's nor its neighbours', and is gone when the answer is used; how much it is, and for
how long, is in scripts/benches/results/engine.md.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

_NAMES = ("C1 Compiler", "C2 Compiler")
_AFTER_NAME = 2
"""Characters from the end of a thread's name to the next field in its account."""
_USER_TICKS, _SYSTEM_TICKS = 11, 12
"""The fields of the account that hold the CPU time, counted from the one after the name."""


class Compilers:
    """Cores in use by the compilers of one JVM, from one look to the next; none where the system keeps no account."""

    def __init__(self, process: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._threads = Path(f"/proc/{process}/task")
        self._clock = clock
        self._at_s, self._used_s = clock(), self._look()

    def cores(self) -> float:
        """Tell how many cores they used since the last look; of threads that ended meanwhile nothing is known."""
        now_s, used_s = self._clock(), self._look()
        busy_s = sum(max(0.0, seconds - self._used_s.get(thread, 0.0)) for thread, seconds in used_s.items())
        passed_s = now_s - self._at_s
        self._at_s, self._used_s = now_s, used_s
        return busy_s / passed_s if passed_s > 0 else 0.0

    def _look(self) -> dict[str, float]:
        return dict(self._accounts())

    def _accounts(self) -> Iterator[tuple[str, float]]:
        ticks_per_s = os.sysconf("SC_CLK_TCK")
        for thread in self._threads.glob("*/stat"):
            try:
                account = thread.read_text()
            except OSError:  # ended meanwhile
                continue
            start, end = account.index("(") + 1, account.rindex(")")
            if account[start:end].startswith(_NAMES):
                fields = account[end + _AFTER_NAME :].split()
                yield thread.parent.name, (int(fields[_USER_TICKS]) + int(fields[_SYSTEM_TICKS])) / ticks_per_s
