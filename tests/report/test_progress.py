"""Progress without a terminal: a line for what happened, few for what only counts on."""

from __future__ import annotations

import io

from rich.console import Console

from profiler.report.progress import COUNTED_EVERY_S, LivePanel, PlainLines


def test_a_download_that_counts_fast_does_not_flood_a_log():
    """The first is told, then one every few seconds, and whatever is something else."""
    seconds = 0.0
    written = io.StringIO()
    lines = PlainLines(Console(file=written), None, clock=lambda: seconds)
    for number in range(1, 47):
        lines.note(f"Fetching jars: {number} of 46")
        seconds += COUNTED_EVERY_S / 10
    lines.note("Starting Kafka")
    told = written.getvalue().splitlines()
    assert told == [*(f"Fetching jars: {number} of 46" for number in (1, 11, 21, 31, 41)), "Starting Kafka"]


def test_what_is_said_stays_above_the_panel():
    """A note is replaced by the next one; what is said can still be read at the end."""
    written = io.StringIO()
    with LivePanel(Console(file=written, force_terminal=True, width=60), "title", None) as panel:
        panel.say("a drill of 20%")
        panel.note("going on")
    assert "a drill of 20%" in written.getvalue().split("title")[0]
