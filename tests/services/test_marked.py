"""Processes that this one started are found and ended, also without a handle of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from profiler.services.processes.marked import children, end_children, marked, runs
from tests.services.starting import marked_when_they_show


def test_children_whose_handle_is_lost_end_with_all_that_they_started(tmp_path: Path) -> None:
    """Those that are to stay do."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as kept:
        others = children()
        command = ["sh", "-c", "sleep 1000 & sleep 1000 & wait"]
        with subprocess.Popen(command, env=marked(tmp_path, owner=0)):
            family = marked_when_they_show(tmp_path, 3)
            end_children(but=others)
        assert not any(runs(each.pid) for each in family)
        assert kept.poll() is None


def test_where_nothing_was_started_nothing_is_ended() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as kept:
        end_children(but=children())
        assert kept.poll() is None
