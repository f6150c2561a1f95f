"""What a test run left behind: `python -m tests.left_over [SECONDS]` names every process that carries the run's mark.

What is ending has so many seconds for it: a worker outlives the JVM that it belongs to by a moment.

`scripts/test` sets the mark in its environment, and all that the tests start inherit it: servers, JVMs, their workers.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time

import psutil

MARK = "TEST_RUN_OF_PROFILE"
_POLL_S = 0.2


def marked(run: str) -> list[str]:
    """Describe the processes of a test run, but for this one and those that started it."""
    own = {os.getpid(), *(each.pid for each in psutil.Process().parents())}
    found = []
    for each in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if each.pid not in own and each.environ().get(MARK) == run and each.status() != psutil.STATUS_ZOMBIE:
                found.append(f"{each.pid} {' '.join(each.cmdline())[:150]}")
    return found


def main() -> int:
    """Name them; return 1 where there are any."""
    ends_s = time.monotonic() + float(sys.argv[1] if len(sys.argv) > 1 else 0)
    while (left := marked(os.environ[MARK])) and time.monotonic() < ends_s:
        time.sleep(_POLL_S)
    sys.stderr.writelines(f"left behind by the tests: {each}\n" for each in left)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
