"""Rules for every test: one without a marker for real parts cannot start a JVM, a broker or a database."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

REAL = {"spark", "kafka", "mongo", "browser"}
HEAVY = {"java", "mongod", "spark-submit", "spark-class", "chromium"}


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
def _no_settings_from_outside(monkeypatch, tmp_path_factory):
    """Keep the user's own settings and cache out of the tests."""
    import os

    for name in list(os.environ):
        if name.startswith("PROFILE_"):
            monkeypatch.delenv(name)
