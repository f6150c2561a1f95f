"""Rules for every test: one without a marker for real parts cannot start a JVM, a broker or a database."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = ["command_line", "spark_parts"]

# How long an example takes says nothing about the code on a loaded machine.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# Tests send these to programs they start; a shell that runs the tests in the background ignores them for all of it.
signal.signal(signal.SIGINT, signal.default_int_handler)
for ending in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(ending, signal.SIG_DFL)

REAL = {"spark", "kafka", "mongo"}
HEAVY = {"java", "mongod", "spark-submit", "spark-class", "chromium"}


MISCOUNTED = Path(__file__).parents[1] / ".pytest_cache" / "miscounted"
"""Tests that counted rows or processes and came to another number: `scripts/test` does not repeat them."""


def pytest_runtest_makereport(item, call):
    """Note an exact test whose own statement was wrong; a query that broke off under it has counted nothing."""
    if call.excinfo is not None and call.excinfo.errisinstance(AssertionError) and item.get_closest_marker("exact"):
        MISCOUNTED.parent.mkdir(exist_ok=True)
        with MISCOUNTED.open("a", encoding="utf-8") as file:
            file.write(f"{item.nodeid}\n")


def pytest_collection_modifyitems(items):
    """Hand out files that start whole commands first: they take longest, and no worker may be left alone with one."""
    commanding = {item.path for item in items if "command" in item.fixturenames}
    items.sort(key=lambda item: item.path not in commanding)


@pytest.fixture(autouse=True)
def _no_real_parts_without_a_marker(request, monkeypatch):
    """Make an unmarked test fail the moment it starts a heavy program."""
    if REAL & {mark.name for mark in request.node.iter_markers()}:
        return
    genuine = subprocess.Popen.__init__

    def guarded(self, args, *rest, **more):
        program = args if isinstance(args, str | bytes) else args[0]
        name = Path(program.decode() if isinstance(program, bytes) else str(program)).name.split(" ")[0]
        if name in HEAVY:
            pytest.fail(f"an unmarked test started {name}: mark it {', '.join(sorted(REAL))}")
        genuine(self, args, *rest, **more)

    monkeypatch.setattr(subprocess.Popen, "__init__", guarded)


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch):
    """Keep the user's own settings out of the tests; the cache stays, as it holds the jars."""
    for name in list(os.environ):
        if name.startswith("PROFILE_") and name != "PROFILE_CACHE":
            monkeypatch.delenv(name)
