"""Processes that were just started."""

from __future__ import annotations

import time

import psutil

WITHIN_S = 30.0


def wait_until_it_shows(process: psutil.Process) -> None:
    """Wait for its command line and environment: on a busy machine a new process has neither for a moment."""
    deadline = time.monotonic() + WITHIN_S
    while not (process.cmdline() and process.environ()):
        assert time.monotonic() < deadline, process
        time.sleep(0.01)
