"""A neighbour: a program that burns half a core now and then, and is nobody's child.

What a profile starts counts as its own, so the neighbour must not be started by it: a process in between starts it and
ends. It is ended by its id, and ends by itself where whoever wanted it is gone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from types import TracebackType
from typing import Self

_IN_BETWEEN = """
import subprocess, sys
print(subprocess.Popen([sys.executable, "-c", *sys.argv[1:]], start_new_session=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).pid)
"""
_NEIGHBOUR = """
import os, random, sys, time
wanted_by, part, seed = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
off_s, on_s = (float(each) for each in sys.argv[4:])
rng = random.Random(seed)
def burn(until_s):
    while time.monotonic() < until_s:
        turn_s = time.monotonic()
        while time.monotonic() < turn_s + 0.1 * part:
            pass
        time.sleep(0.1 * (1 - part))
while True:
    try:
        os.kill(wanted_by, 0)
    except OSError:
        sys.exit()
    time.sleep(rng.uniform(0.5, 1.5) * off_s)
    burn(time.monotonic() + rng.uniform(0.5, 1.5) * on_s)
"""


class Disturber:
    """Burns a part of a core for about `on_s` seconds, rests for about `off_s`, and so on until it is closed."""

    def __init__(self, *, part: float = 0.5, off_s: float = 9.0, on_s: float = 6.0, seed: int = 1) -> None:
        arguments = [str(each) for each in (os.getpid(), part, seed, off_s, on_s)]
        started = subprocess.run(
            [sys.executable, "-c", _IN_BETWEEN, _NEIGHBOUR, *arguments], stdout=subprocess.PIPE, check=True
        )
        self.process = int(started.stdout)
        """Its number."""

    def close(self) -> None:
        """End it; calling it twice is fine."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process, signal.SIGTERM)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
