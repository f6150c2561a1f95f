"""Progress without a terminal: a line for what happened, few for what only counts on."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.experiment.window_plan import WindowPlan
from profiler.questions.search.loop import Loop
from profiler.questions.search.policies import POLICIES
from profiler.report.progress import COUNTED_EVERY_S, LivePanel, PlainLines
from profiler.report.time_left import TimeLeft
from tests.scenarios import WAITS


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


@pytest.fixture(scope="module")
def shown():
    """What the panel shows after every event of a whole profile."""
    screens = []
    console = Console(file=io.StringIO(), force_terminal=False, width=120)
    design = WindowPlan(windows=4, blocks=3)
    panel = LivePanel(console, "profile waits on simulated", TimeLeft(design, 3.0, batch_s=30.0))

    def watched(event):
        panel(event)
        with console.capture() as captured:
            console.print(panel._render())
        screens.append(captured.get())

    engine = SimulatedEngine(SimulatedPlatform(cores_per_node=8, slots=15), seed=1)
    Loop(engine, WAITS, POLICIES["stepwise"](), design=design, report=watched, production_batch_s=30.0).run()
    return screens


@pytest.mark.parametrize(
    "text",
    [
        r"round 1: start, tasks \(1,1,1,1\)",
        r"warm-up, window 1: [\d,]+ rows/s of [\d,]+ offered, p95 [\d,.]+ ms",
        r"stress, window 4 of 4: [\d,]+ rows/s of [\d,]+ offered, p95 [\d,.]+ ms",
        r"round 2: slot programme",
        r"✓ throughput +[^│]*│",
        r"answer, not confirmed yet: .* rows/s, ×",
        r"confirmation, block 2 of 6: tasks",
        r"verifying \([\d,]+\) at [\d,]+ rows/s with batches of 30 s",
    ],
)
def test_the_panel_shows_what_happens(shown, text):
    """Round, action, window, throughput and latency as they come, the verdict, the answer, what follows it."""
    assert any(re.search(text, screen) for screen in shown), shown[-1]


def test_the_panel_keeps_the_rounds_and_the_time_left_in_sight(shown):
    """From the first window to the last one."""
    assert all(re.search(r"so far, about \d+:\d\d left", screen) for screen in shown)
    assert "slot programme" in shown[-1]
    assert "answer, not confirmed yet" in shown[-1]
